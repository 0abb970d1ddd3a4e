#include "tempinboxctl/door_comparison.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using namespace tempinbox::ctl;

namespace {

using shows = door::shows;
using ids = std::vector<std::string>;

const time_point from{1'000s}, until{2'000s};

door_event mail(std::string inbox = "a", time_point at = from)
{
    return {"email.received", std::move(inbox), at};
}

struct four_doors
{
    door topics{"topics", shows::at_least_once};
    door webhook{"webhook", shows::at_least_once};
    door feed{"feed", shows::once};
    door emails{"emails", shows::mail_now};

    void add(const std::string& id, const door_event& event)
    {
        for (auto* each : {&topics, &webhook, &feed})
            each->add(id, event);
        if (event.type == "email.received")
            emails.add(id, event);
    }
    door_findings compare() const { return {{&topics, &webhook, &feed, &emails}, from, until}; }
};

} // namespace

TEST_CASE("doors that show the same events are good", "[tempinboxctl][doors]")
{
    four_doors all;
    all.add("1", {"inbox.created", "a", from});
    all.add("2", mail());

    const auto found = all.compare();

    CHECK(found.are_good());
    REQUIRE(found.of_doors.size() == 4);
    CHECK(found.of_doors[2].events == 2);
    CHECK(found.of_doors[3].events == 1);
    CHECK_FALSE(to_result(found).is_failure);
}

TEST_CASE("an event that a door lacks is named there", "[tempinboxctl][doors]")
{
    four_doors all;
    all.add("2", mail());
    all.topics.add("1", mail());
    all.feed.add("3", mail("b"));

    const auto found = all.compare();

    CHECK_FALSE(found.are_good());
    CHECK(found.of_doors[0].missing == ids{"3"});
    CHECK(found.of_doors[1].missing == ids{"1", "3"});
    CHECK(found.of_doors[2].missing == ids{"1"});
    CHECK(found.of_doors[3].missing == ids{"1", "3"});
    CHECK(to_result(found).is_failure);
}

TEST_CASE("topics and webhooks may repeat an event, the feed must not", "[tempinboxctl][doors]")
{
    four_doors all;
    all.add("1", mail());
    all.topics.add("1", mail());
    all.webhook.add("1", mail());
    CHECK(all.compare().are_good());
    CHECK(all.compare().of_doors[0].repeated == 1);

    all.feed.add("1", mail());

    CHECK_FALSE(all.compare().are_good());
    CHECK(all.compare().of_doors[2].repeated == 1);
}

TEST_CASE("what happened before all doors were open, or after, is not compared",
          "[tempinboxctl][doors]")
{
    four_doors all;
    all.feed.add("1", mail("a", from - 1ms));
    all.topics.add("2", mail("a", until));

    CHECK(all.compare().are_good());
    CHECK(all.compare().of_doors[0].events == 0);
}

TEST_CASE("mail of an inbox that has ended need not be listed", "[tempinboxctl][doors]")
{
    four_doors all;
    all.add("1", mail());
    all.emails.clear();
    CHECK_FALSE(all.compare().are_good());

    // It ended after the time that is compared.
    all.feed.add("2", {"inbox.expired", "a", until + 1s});

    CHECK(all.compare().are_good());
}
