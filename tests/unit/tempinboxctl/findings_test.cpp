#include "tempinboxctl/findings.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using namespace tempinbox::ctl;
using Catch::Contains;
using kind = kafka::topic_difference::kind;

namespace {

const auto now = *parse_iso8601("2026-11-21T10:30:00Z");

postgres::schema_state schema_at(int applied, int newest)
{
    postgres::schema_state state;
    state.schema = "mailbox";
    state.applied = applied;
    state.newest = newest;
    for (int version = applied + 1; version <= newest; ++version)
        state.missing.push_back(version);
    return state;
}

finding only(const findings& found)
{
    REQUIRE(found.size() == 1);
    return found.front();
}

postgres::partitioned_table table_until(time_point end)
{
    postgres::partitioned_table table;
    table.name = "mailbox.emails";
    table.partitions.emplace_back(now - 24h, end);
    return table;
}

} // namespace

TEST_CASE("a schema that lags behind the release is bad, one that is ahead a warning",
          "[tempinboxctl][doctor]")
{
    CHECK(only(judge_schemas({schema_at(2, 2)})).is == level::ok);
    CHECK(only(judge_schemas({schema_at(0, 2)})).message == "schema mailbox is missing");
    const auto lagging = only(judge_schemas({schema_at(1, 3)}));
    CHECK(lagging.is == level::bad);
    CHECK(lagging.message == "schema mailbox is at 1, this release needs 3: not applied: 2, 3");
    CHECK(lagging.remedy == "run tempinbox-migrate of this release");
    CHECK(only(judge_schemas({schema_at(3, 2)})).is == level::warn);

    auto other = schema_at(2, 2);
    other.changed_functions = {"store_mail"};
    CHECK(only(judge_schemas({other})).message ==
          "schema mailbox has other functions than this release: store_mail");
    other.conflict = "made before";
    CHECK(only(judge_schemas({other})).message == "made before");
}

TEST_CASE("a missing topic is bad, another setting a warning, more than listed is fine",
          "[tempinboxctl][doctor]")
{
    const auto judge = [](kafka::topic_difference one) { return only(judge_topics(7, {one})); };

    CHECK(only(judge_topics(7, {})).message == "7 topics are as listed");
    const auto missing = judge({kind::missing, "email.received", "", "", ""});
    CHECK(missing.is == level::bad);
    CHECK(missing.message == "topic email.received is missing");
    const auto config = judge({kind::config, "email.received", "retention.ms", "1", "2"});
    CHECK(config.is == level::warn);
    CHECK(config.message == "email.received retention.ms: 1, not 2");
    CHECK(judge({kind::fewer_partitions, "t", "partitions", "12", "48"}).is == level::warn);
    CHECK(judge({kind::more_partitions, "t", "partitions", "96", "48"}).is == level::ok);
    CHECK(judge({kind::replication, "t", "replication", "1", "3"}).is == level::warn);
    CHECK(judge({kind::replication, "t", "replication", "10", "3"}).is == level::ok);
}

TEST_CASE("an event that Kafka does not hold is bad, and the command that repairs it is named",
          "[tempinboxctl][doctor]")
{
    CHECK(only(judge_events("inbox.created", 7, 0)).is == level::ok);
    const auto lost = only(judge_events("inbox.created", 7, 2));
    CHECK(lost.is == level::bad);
    CHECK(lost.message == "2 of 7 recent events of inbox.created are not in Kafka");
    CHECK_THAT(lost.remedy, Contains("tempinboxctl events verify --type inbox.created --repair"));
}

TEST_CASE("clocks may differ by five seconds, and by a minute with a warning",
          "[tempinboxctl][doctor]")
{
    const auto judge = [](std::chrono::microseconds ahead) {
        postgres::clock_comparison compared;
        compared.ahead = ahead;
        return only(judge_clocks(compared));
    };

    CHECK(judge(5s).is == level::ok);
    CHECK(judge(-6s).is == level::warn);
    CHECK(judge(-6s).message == "this clock is 6.000 s behind PostgreSQL's");
    CHECK(judge(60s).is == level::warn);
    CHECK(judge(61s).is == level::bad);
    CHECK_THAT(judge(61s).message, Contains("451"));
}

TEST_CASE("partitions must be there for the next half day", "[tempinboxctl][doctor]")
{
    const auto judge = [](const postgres::partitioned_table& table) {
        return only(judge_partitions({table}, now));
    };

    CHECK(judge(table_until(now + 12h)).is == level::ok);
    CHECK(judge(table_until(now + 11h)).is == level::warn);
    CHECK(judge(table_until(now)).is == level::bad);
    CHECK(judge(table_until(now)).message == "mailbox.emails has no partition for the present");
    auto with_rows = table_until(now + 72h);
    with_rows.default_rows = 3;
    CHECK(judge(with_rows).is == level::warn);
    CHECK(judge(with_rows).message == "mailbox.emails has 3 rows in its default partition");
    with_rows.default_rows = postgres::partitioned_table::max_counted;
    CHECK_THAT(judge(with_rows).message, Contains("10000 rows or more"));
}

TEST_CASE("connections in use and those that may be opened are held against the limits",
          "[tempinboxctl][doctor]")
{
    const auto in_use = [](std::int64_t used) {
        return only(judge_connections({{"server", 100, used}}, std::nullopt));
    };

    CHECK(in_use(79).is == level::ok);
    CHECK(in_use(80).is == level::warn);
    CHECK(in_use(95).is == level::bad);
    CHECK(in_use(95).message == "95 of 100 connections of the server are in use");
    const auto within = judge_connections({{"server", 97, 1}}, 97);
    const auto beyond = judge_connections({{"server", 97, 1}, {"role app", 200, 1}}, 108);
    REQUIRE(within.size() == 2);
    CHECK(within[1].is == level::ok);
    REQUIRE(beyond.size() == 4);
    CHECK(beyond[2].is == level::bad);
    CHECK(beyond[2].message == "all replicas may open 108 connections, the server allows 97");
    CHECK(beyond[3].is == level::ok);
}

TEST_CASE("a replica that does not answer is bad, with what to do about it",
          "[tempinboxctl][doctor]")
{
    const auto judge = [](const result<void>& answered) {
        return only(judge_rpc("inbox", "inbox-rpc", "10.0.0.5:9101", answered));
    };

    CHECK(judge({}).message == "inbox at 10.0.0.5:9101 answers");
    CHECK_THAT(judge(failure{errc::unavailable, "refused"}).remedy,
               Contains("--inbox-rpc or TEMPINBOX_INBOX_RPC"));
    CHECK_THAT(judge(failure{errc::unauthenticated, "no"}).remedy,
               Contains("--rpc-token-file or TEMPINBOX_RPC_TOKEN_FILE"));
    CHECK(judge(failure{errc::internal, "broken"}).remedy == "see its log");
}

TEST_CASE("a certificate is warned of two weeks before it expires", "[tempinboxctl][doctor]")
{
    const auto judge = [](const result<time_point>& expiry) {
        return only(judge_certificate("tls.pem", expiry, now));
    };

    CHECK(judge(now + 24h * 14).is == level::ok);
    CHECK(judge(now + 24h * 13).is == level::warn);
    CHECK(judge(now).is == level::bad);
    CHECK(judge(now).message == "tls.pem expired at 2026-11-21T10:30:00.000Z");
    CHECK(judge(failure{errc::invalid_argument, "cannot be read"}).is == level::bad);
}

TEST_CASE("a port for logins is bad if a client would not send there", "[tempinboxctl][doctor]")
{
    CHECK(only(judge_submission("smtp.example.com:587", std::nullopt)).is == level::ok);

    const auto found = only(judge_submission("smtp.example.com:587", "self-signed certificate"));
    CHECK(found.is == level::bad);
    CHECK(found.message == "smtp.example.com:587: self-signed certificate");
    CHECK_THAT(found.remedy, Contains("submission-tls-certificate-file"));
}

TEST_CASE(
    "a domain's mail is to come to the suite, and that of all names below one with subdomains",
    "[tempinboxctl][doctor]")
{
    const std::vector<std::string> servers{"mx.example.com", "mx2.example.com"};
    const auto judged = [&](std::vector<std::string> hosts, bool is_wildcard = false) {
        return only(judge_mail_exchangers("inbox.example.com", is_wildcard, hosts, servers));
    };

    CHECK(judged({"mx.example.com"}).is == level::ok);
    CHECK(judged({"mx2.example.com", "mx.example.com"}).is == level::ok);

    const auto missing = judged({}, true);
    CHECK(missing.is == level::bad);
    CHECK(missing.message == "*.inbox.example.com has no MX record: its mail does not come");
    CHECK(missing.remedy == "give it the record: *.inbox.example.com. MX 10 mx.example.com.");

    const auto elsewhere = judged({"a.example", "b.example"});
    CHECK(elsewhere.is == level::bad);
    CHECK(elsewhere.message == "mail for inbox.example.com goes to a.example, b.example");

    CHECK(judged({"mx.example.com", "a.example"}).is == level::warn);

    const auto unknown = only(judge_mail_exchangers(
        "inbox.example.com", false, failure{errc::unavailable, "no name server says"}, servers));
    CHECK(unknown.is == level::bad);
    CHECK(unknown.message == "MX of inbox.example.com: no name server says");
    CHECK_THAT(unknown.remedy, Contains("--name-server"));
}

TEST_CASE("a login that works with older brokers only is a warning of the doctor",
          "[tempinboxctl][doctor]")
{
    CHECK(judge_login(std::nullopt).empty());
    const auto found = only(judge_login("SCRAM of librdkafka 2.0.2"));
    CHECK(found.is == level::warn);
    CHECK(found.message == "SCRAM of librdkafka 2.0.2");
}

TEST_CASE("what is not set is not checked, which is said", "[tempinboxctl][doctor]")
{
    CHECK(only(judge_settings({true, true, true})).is == level::ok);
    const auto missing = judge_settings({false, true, false});
    REQUIRE(missing.size() == 2);
    CHECK(missing[0].is == level::warn);
    CHECK_THAT(missing[0].message, Contains("--database is not set"));
    CHECK_THAT(missing[1].remedy, Contains("TEMPINBOX_RPC_TOKEN_FILE"));
}

TEST_CASE("a server that forgets commits in a crash is a warning", "[tempinboxctl][doctor]")
{
    CHECK(only(judge_durability({})).is == level::ok);
    const auto unsafe = only(judge_durability({false, true, false}));
    CHECK(unsafe.is == level::warn);
    CHECK_THAT(unsafe.message, Contains("without fsync, synchronous_commit"));
}

TEST_CASE("findings are a line each, and one that is bad makes a failure", "[tempinboxctl][doctor]")
{
    const finding fine{level::ok, "rpc", "inbox answers", ""};
    const finding risky{level::warn, "topics", "few partitions", "add some"};
    const finding broken{level::bad, "schemas", "schema mailbox is missing", "migrate"};

    const auto shown = to_result({fine, risky, broken});
    CHECK(to_text(shown) == "ok    rpc           inbox answers\n"
                            "warn  topics        few partitions; add some\n"
                            "bad   schemas       schema mailbox is missing; migrate\n");
    CHECK(shown.is_failure);
    CHECK_FALSE(to_result({fine, risky}).is_failure);
    CHECK(to_json(to_result({fine})) == "{\"findings\":[{\"level\":\"ok\",\"check\":\"rpc\","
                                        "\"message\":\"inbox answers\",\"remedy\":null}]}\n");
}
