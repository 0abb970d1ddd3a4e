#include "gateway/resources/wait.hpp"

#include "common/json/value.hpp"
#include "unit/gateway/long_poll/fake_inbox.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;

namespace {

using query = std::vector<std::pair<std::string, std::string>>;

struct arranged_wait
{
    testing::fake_inbox mail;
    long_poll_hub hub{testing::test_host(), mail.client, mail.memory, long_poll_limits(10)};
    caller who = testing::premium_caller();

    arranged_wait() { mail.account = who.account(); }

    http::response get(query parameters, std::string id = "")
    {
        http::request received;
        received.method = "GET";
        received.query = std::move(parameters);
        received.path_params.emplace_back("inboxId", id.empty() ? mail.inbox.text() : id);
        return testing::await(wait_for_email(received, who, hub, mail.client, mail.memory));
    }
    json::value body(query parameters)
    {
        const auto response = get(std::move(parameters));
        REQUIRE(response.status == 200);
        return json::value::parse(response.body).value();
    }
};

} // namespace

TEST_CASE("a wait that is answered has the email, the inbox's last sequence and the time",
          "[gateway][long_poll]")
{
    arranged_wait arranged;
    const auto id = arranged.mail.add("one");
    arranged.mail.add("two");

    const auto response = arranged.body({});

    CHECK(response["outcome"].text() == "matched");
    CHECK(response["email"]["emailId"].text() == id);
    CHECK(response["lastSequence"].integer() == 2);
    CHECK(response["waitedMs"].integer() < 1'000);
    CHECK(response["nearMisses"].items().empty());
}

TEST_CASE("expecting none, a wait returns the email that came, or that the whole time passed",
          "[gateway][long_poll]")
{
    arranged_wait arranged;
    const auto id = arranged.mail.add("one");

    const auto broken = arranged.body({{"expect", "none"}});
    CHECK(broken["outcome"].text() == "violated");
    CHECK(broken["email"]["emailId"].text() == id);

    const auto kept = arranged.body({{"expect", "none"}, {"after", "1"}, {"timeoutSeconds", "1"}});
    CHECK(kept["outcome"].text() == "timeout");
    CHECK(kept["email"].is_null());
    CHECK(kept["lastSequence"].integer() == 1);
    CHECK(kept["waitedMs"].integer() >= 1'000);
}

TEST_CASE("near misses say which condition failed, newest first", "[gateway][long_poll]")
{
    arranged_wait arranged;
    const auto first = arranged.mail.add("one");
    const auto second = arranged.mail.add("two");

    const auto response = arranged.body({{"subject", "three"}, {"timeoutSeconds", "1"}});

    const auto& misses = response["nearMisses"].items();
    REQUIRE(misses.size() == 2);
    CHECK(misses[0]["emailId"].text() == second);
    CHECK(misses[0]["field"].text() == "subject");
    CHECK(misses[0]["expected"].text() == "three");
    CHECK(misses[0]["actual"].text() == "two");
    CHECK(misses[1]["emailId"].text() == first);
}

TEST_CASE("bad parameters of a wait are 400 and name the parameter; an unknown inbox is 404",
          "[gateway][long_poll]")
{
    arranged_wait arranged;
    const auto row = GENERATE(table<std::string, std::string>({{"timeoutSeconds", "0"},
                                                               {"timeoutSeconds", "61"},
                                                               {"timeoutSeconds", "1.5"},
                                                               {"after", "-1"},
                                                               {"hasCode", "yes"},
                                                               {"hasLink", ""},
                                                               {"linkKind", "Verify"},
                                                               {"hasAttachment", "1"},
                                                               {"isRead", "no"},
                                                               {"since", "yesterday"},
                                                               {"until", "2026-11-21"},
                                                               {"recipient", ""},
                                                               {"text", "\u00a0 \u00ad"},
                                                               {"header.", "a"},
                                                               {"header.a b", "c"},
                                                               {"header.a:b", "c"},
                                                               {"header.x-run", ""},
                                                               {"expect", "two"},
                                                               {"minCount", "0"},
                                                               {"minCount", "101"},
                                                               {"from", ""},
                                                               {"subject", std::string(501, 'x')},
                                                               {"limit", "1"}}));

    const auto response = arranged.get({{std::get<0>(row), std::get<1>(row)}});

    CHECK(response.status == 400);
    CHECK(response.body.find(std::get<0>(row)) != std::string::npos);
    CHECK(arranged.mail.polls == 0);
    CHECK(arranged.get({}, "nonsense").status == 400);
    CHECK(arranged.get({}, inbox_id::make().text()).status == 404);
}

TEST_CASE("every filter reaches the poll", "[gateway][long_poll]")
{
    arranged_wait arranged;

    arranged.get({{"from", "a"},
                  {"to", "b"},
                  {"recipient", "r"},
                  {"subject", "c"},
                  {"hasCode", "true"},
                  {"hasLink", "true"},
                  {"linkKind", "reset"},
                  {"hasAttachment", "false"},
                  {"isRead", "false"},
                  {"since", "2026-11-21T10:00:00Z"},
                  {"until", "2026-11-21T11:00:00+00:30"},
                  {"header.X-Run", "R-7"},
                  {"header.a", "b"},
                  {"text", "the words"},
                  {"timeoutSeconds", "1"}});

    const auto& seen = arranged.mail.last_filter;
    CHECK(seen.from() == "a");
    CHECK(seen.to() == "b");
    CHECK(seen.recipient() == "r");
    CHECK(seen.subject() == "c");
    CHECK(seen.has_code());
    CHECK(seen.has_link());
    CHECK(seen.link_kind() == "reset");
    CHECK(seen.has_has_attachment());
    CHECK_FALSE(seen.has_attachment());
    CHECK(seen.has_is_read());
    CHECK_FALSE(seen.is_read());
    REQUIRE(seen.headers_size() == 2);
    CHECK(seen.headers(0).name() == "a");
    CHECK(seen.headers(1).name() == "x-run");
    CHECK(seen.headers(1).value() == "R-7");
    CHECK(seen.text() == "the words");
    CHECK(seen.until().seconds() - seen.since().seconds() == 30 * 60);
}

TEST_CASE("filters that contradict each other are refused", "[gateway][long_poll]")
{
    arranged_wait arranged;
    const auto at = std::pair<std::string, std::string>("until", "2026-11-21T10:00:00Z");

    CHECK(arranged.get({{"hasLink", "false"}, {"linkKind", "verify"}}).status == 400);
    CHECK(arranged.get({{"since", at.second}, at}).status == 400);
    CHECK(arranged.get({{"minCount", "2"}, {"expect", "none"}}).status == 400);
    CHECK(arranged.get({{"header.a", "x"}, {"header.A", "x"}}).status == 400);
    CHECK(arranged
              .get({{"header.a", "x"},
                    {"header.b", "x"},
                    {"header.c", "x"},
                    {"header.d", "x"},
                    {"header.e", "x"}})
              .status == 400);
    CHECK(arranged.get({{"since", "2026-11-21T10:00:00.001Z"}, at}).status == 400);
    CHECK(arranged.mail.polls == 0);
}

TEST_CASE("hasCode takes any email where it is absent, and those without a code where it is false",
          "[gateway][long_poll]")
{
    arranged_wait arranged;

    arranged.get({{"timeoutSeconds", "1"}});
    const auto absent = arranged.mail.last_filter;
    arranged.get({{"timeoutSeconds", "1"}, {"hasCode", "false"}});
    const auto without = arranged.mail.last_filter;

    CHECK_FALSE(absent.has_has_code());
    CHECK(without.has_has_code());
    CHECK_FALSE(without.has_code());
}

TEST_CASE("a wait for several emails has their summaries in order, and the first one whole",
          "[gateway][long_poll]")
{
    arranged_wait arranged;
    const auto first = arranged.mail.add("yes");
    arranged.mail.add("no");
    const auto second = arranged.mail.add("yes");
    arranged.mail.add("yes");

    const auto matched = arranged.body({{"subject", "yes"}, {"minCount", "2"}});
    const auto one = arranged.body({{"subject", "yes"}});

    CHECK(matched["outcome"].text() == "matched");
    CHECK(matched["email"]["emailId"].text() == first);
    CHECK(matched["matched"].integer() == 2);
    REQUIRE(matched["emails"].items().size() == 2);
    CHECK(matched["emails"].items()[0]["emailId"].text() == first);
    CHECK(matched["emails"].items()[1]["emailId"].text() == second);
    CHECK(matched["nearMisses"].items().size() == 1);
    CHECK(one["matched"].integer() == 1);
    CHECK(one["emails"].items().empty());
}

TEST_CASE("a wait for several that finds fewer has these when its time is over",
          "[gateway][long_poll]")
{
    arranged_wait arranged;
    const auto only = arranged.mail.add("yes");

    const auto response = arranged.body({{"minCount", "2"}, {"timeoutSeconds", "1"}});

    CHECK(response["outcome"].text() == "timeout");
    CHECK(response["email"].is_null());
    CHECK(response["matched"].integer() == 1);
    REQUIRE(response["emails"].items().size() == 1);
    CHECK(response["emails"].items()[0]["emailId"].text() == only);
}

TEST_CASE("what was deleted meanwhile does not count for a wait for several",
          "[gateway][long_poll]")
{
    arranged_wait arranged;
    const auto first = arranged.mail.add("one");
    arranged.mail.deleted.push_back(arranged.mail.add("deleted"));
    const auto last = arranged.mail.add("three");

    const auto response = arranged.body({{"minCount", "2"}});

    CHECK(response["outcome"].text() == "matched");
    REQUIRE(response["emails"].items().size() == 2);
    CHECK(response["emails"].items()[0]["emailId"].text() == first);
    CHECK(response["emails"].items()[1]["emailId"].text() == last);
}
