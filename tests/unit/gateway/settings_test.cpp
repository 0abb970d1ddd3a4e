#include "gateway/settings.hpp"

#include "common/core/encoding.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

std::vector<std::string> problems_of(std::map<std::string, std::string> values)
{
    values.emplace("database", "postgresql://localhost/t");
    values.emplace("rpc-token-file", "/dev/null");
    testing::scratch_folder folder;
    values.emplace("master-key-file",
                   folder.write("keys", "one:" + to_base64(std::string(32, 'k')) + "\n"));
    config::reader reader(std::move(values));
    gateway::read_settings(reader);
    return reader.problems();
}

} // namespace

TEST_CASE("a database, a token and a master key are all that must be set", "[gateway][settings]")
{
    config::reader nothing;
    gateway::read_settings(nothing);

    CHECK(nothing.problems().size() == 3);
    CHECK(problems_of({}).empty());
}

TEST_CASE("replicas are lists, and a certificate needs its key", "[gateway][settings]")
{
    config::reader reader({{"inbox-rpc", "a:1, b:2"},
                           {"trusted-proxies", "10.0.0.0/8,::1"},
                           {"listen", "0.0.0.0:80"}});
    const auto chosen = gateway::read_settings(reader);

    CHECK(chosen.inbox_rpc == std::vector<host_port>{host_port("a", 1), host_port("b", 2)});
    CHECK(chosen.trusted_proxies.size() == 2);
    CHECK(chosen.api.connections_per_address == 1'000);
    CHECK(contains(chosen.api.uncounted, boost::asio::ip::make_address("10.1.2.3")));
    CHECK_FALSE(contains(chosen.api.uncounted, boost::asio::ip::make_address("192.0.2.1")));
    CHECK(chosen.api.listen.port == 80);
    CHECK(problems_of({{"tls-certificate-file", "/dev/null"}}).size() == 1);
    CHECK(problems_of({{"master-key-file", "/dev/null"}}).size() == 1);
    CHECK(problems_of({{"rate-limit-rpc", "nonsense"}}).size() == 1);
}

TEST_CASE("a base path is kept without the slash at its end, or refused", "[gateway][settings]")
{
    config::reader reader(std::map<std::string, std::string>{{"base-path", "/some/path/"}});

    CHECK(gateway::read_settings(reader).base_path == "/some/path");
    CHECK(problems_of({{"base-path", "/some/path"}}).empty());
    const auto problems = problems_of({{"base-path", "/some/../path"}});
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].find("base-path") != std::string::npos);
    CHECK(problems[0].find("must not have . or .. as a part") != std::string::npos);
}

TEST_CASE("links in mail lead below the base path", "[gateway][settings]")
{
    const auto problems_with = [](const std::string& dashboard_url) {
        return problems_of({{"base-path", "/some/path"},
                            {"mail-relay", "mail.example:25"},
                            {"mail-relay-from", "noreply@mail.example"},
                            {"dashboard-url", dashboard_url}});
    };

    CHECK(problems_with("https://mail.example/some/path/dashboard").empty());
    CHECK(problems_with("https://mail.example/dashboard").size() == 1);
    CHECK(problems_with("https://mail.example").size() == 1);
}

TEST_CASE("sign-up is closed unless the operator opens it", "[gateway][settings]")
{
    config::reader closed;
    config::reader open(std::map<std::string, std::string>{{"signup", "open"}});

    CHECK(gateway::read_settings(closed).who_signs_up == gateway::sign_up::closed);
    CHECK(gateway::read_settings(open).who_signs_up == gateway::sign_up::open);
    CHECK(problems_of({{"signup", "yes"}}).size() == 1);
}

TEST_CASE("a mail relay needs a sender and the dashboard's address, and is spoken to over TLS "
          "unless told otherwise",
          "[gateway][settings]")
{
    config::reader reader({{"mail-relay", "mail.example:25"},
                           {"mail-relay-from", "noreply@mail.example"},
                           {"dashboard-url", "https://mail.example/dashboard/"}});
    const auto relay = gateway::read_settings(reader).relay;

    CHECK(relay.is_set());
    CHECK(relay.tls == gateway::relay_settings::protection::starttls);
    CHECK(relay.dashboard_url == "https://mail.example/dashboard");
    CHECK(problems_of({{"mail-relay", "mail.example:25"}}).size() == 2);
    CHECK(problems_of({{"mail-relay", "nonsense"},
                       {"mail-relay-from", "a@b.example"},
                       {"dashboard-url", "https://b"}})
              .size() == 1);
}

TEST_CASE("captures need a host and ports, and none is 25", "[gateway][settings]")
{
    config::reader reader(std::map<std::string, std::string>{{"capture-host", "smtp.x.test"},
                                                             {"capture-starttls-ports", "587,2525"},
                                                             {"capture-tls-ports", "465"},
                                                             {"capture-clear-ports", "1025"}});
    const auto captures = gateway::read_settings(reader).captures;

    CHECK(captures.is_set());
    CHECK(captures.host == "smtp.x.test");
    CHECK(captures.starttls_ports == std::vector<std::uint16_t>{587, 2525});
    CHECK(captures.tls_ports == std::vector<std::uint16_t>{465});
    CHECK(captures.clear_ports == std::vector<std::uint16_t>{1025});
    CHECK(problems_of({{"capture-host", "x.test"}, {"capture-clear-ports", "1025"}}).empty());
    CHECK(problems_of({{"capture-host", "x.test"}, {"capture-tls-ports", "465"}}).empty());
    CHECK(problems_of({{"capture-host", "x.test"}}).size() == 1);
    CHECK(problems_of({{"capture-tls-ports", "465"}}).size() == 1);
    CHECK(problems_of({{"capture-host", "x.test:465"}, {"capture-tls-ports", "465"}}).size() == 1);
    for (const char* ports : {"25", "0", "65536", "smtp", "587 2525", "-1"})
        CHECK_FALSE(
            problems_of({{"capture-host", "x.test"}, {"capture-starttls-ports", ports}}).empty());
}

TEST_CASE("an account's share of the waits follows the connections, and what it may use in a day "
          "is bounded",
          "[gateway][settings]")
{
    config::reader plain;
    config::reader set(std::map<std::string, std::string>{{"connection-limit", "1000"},
                                                          {"waits-per-account", "7"},
                                                          {"waits-per-burst", "2"},
                                                          {"waits-per-account-sessions", "3"},
                                                          {"session-requests-per-day", "0"},
                                                          {"idempotency-keys-per-day", "5"}});
    const auto usual = gateway::read_settings(plain);
    const auto chosen = gateway::read_settings(set);

    CHECK(usual.waits.in_all == 9'000);
    CHECK(usual.waits.of_account == 900);
    CHECK(usual.waits.for_each_of_burst == 10);
    CHECK(usual.waits.of_sessions == 8);
    CHECK(usual.session_requests_a_day == 20'000);
    CHECK(usual.stored_keys_a_day == 10'000);
    CHECK(chosen.waits.in_all == 900);
    CHECK(chosen.waits.of_account == 7);
    CHECK(chosen.waits.for_each_of_burst == 2);
    CHECK(chosen.waits.of_sessions == 3);
    CHECK(chosen.session_requests_a_day == 0);
    CHECK(chosen.stored_keys_a_day == 5);
}

TEST_CASE("stored responses are kept for a second to a day", "[gateway][settings]")
{
    CHECK(gateway::settings().idempotency_ttl == std::chrono::hours(24));
    CHECK(problems_of({{"idempotency-ttl", "1m"}}).empty());
    CHECK(problems_of({{"idempotency-ttl", "0s"}}).size() == 1);
    CHECK(problems_of({{"idempotency-ttl", "25h"}}).size() == 1);
}

TEST_CASE("the relay's files hold a password in the first line, and certificates",
          "[gateway][settings]")
{
    const testing::scratch_folder folder;
    const auto problems_with = [](const std::string& file, const std::string& authorities = "") {
        return problems_of({{"mail-relay", "mail.test:25"},
                            {"mail-relay-from", "noreply@mail.test"},
                            {"dashboard-url", "https://mail.test/dashboard"},
                            {"mail-relay-ca-file", authorities},
                            {"mail-relay-password-file", file}});
    };

    CHECK(problems_with(folder.write("password", " a password \nnot read\n")).empty());
    CHECK(gateway::read_relay_password(folder.file("password")).reveal() == "a password");
    CHECK(problems_with(folder.write("empty", "\nhidden\n")).size() == 1);
    CHECK(problems_with(folder.file("absent")).size() == 1);
    CHECK(problems_with("", folder.write("authorities", "rubbish")).size() == 1);
}
