#include "common/core/ids.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <unordered_set>

using namespace tempinbox;

namespace {

time_point at(std::int64_t millis)
{
    return time_point(std::chrono::milliseconds(millis));
}

} // namespace

TEST_CASE("a uuid is read and written as 36 characters", "[core]")
{
    const auto id = uuid::parse("01934F2E-7b1c-7d3a-9f00-5a1b2c3d4e5f");

    REQUIRE(id);
    CHECK(id->text() == "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f");
    CHECK(id->version() == 7);
    CHECK(uuid::parse("00000000-0000-0000-0000-000000000000")->is_nil());
    for (const auto* text :
         {"", "01934f2e7b1c7d3a9f005a1b2c3d4e5f", "{01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f}",
          "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5", "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f0",
          "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5g", "01934f2e-7b1c-7d3a-9f00_5a1b2c3d4e5f",
          "-1934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f", "01934f2e-7b1c-7d3a--f00-5a1b2c3d4e5f",
          " 1934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"}) {
        CAPTURE(text);
        CHECK_FALSE(uuid::parse(text));
    }
}

TEST_CASE("a version 7 uuid carries its time and sorts by it", "[core]")
{
    const auto early = uuid::make_v7(at(1'700'000'000'123));
    const auto late = uuid::make_v7(at(1'700'000'000'124));

    CHECK(early.version() == 7);
    CHECK((early.bytes()[8] & 0xc0) == 0x80);
    CHECK(early.time() == at(1'700'000'000'123));
    CHECK(early < late);
    CHECK(early.text() < late.text());
}

TEST_CASE("every uuid sorts below the greatest", "[core]")
{
    static_assert(uuid::max() > uuid());

    CHECK(uuid::max().text() == "ffffffff-ffff-ffff-ffff-ffffffffffff");
    CHECK(uuid::make_v7() < uuid::max());
    CHECK(event_id::max().value() == uuid::max());
}

TEST_CASE("version 7 uuids of one process only grow, even inside a millisecond and when the clock "
          "steps back",
          "[core]")
{
    std::set<std::string> seen;
    auto last = uuid::make_v7(at(1'800'000'000'000));
    for (int i = 0; i < 20'000; ++i) {
        const auto next = uuid::make_v7(at(1'800'000'000'000 - (i % 3) * 5));
        CHECK_FALSE(next <= last);
        seen.insert(next.text());
        last = next;
    }

    CHECK(seen.size() == 20'000);
    CHECK(last.time() < at(1'800'000'000'020));
}

TEST_CASE("a clock set back by much is followed", "[core]")
{
    uuid::make_v7(at(1'900'000'000'000));

    CHECK(uuid::make_v7(at(1'800'000'100'000)).time() == at(1'800'000'100'000));
}

TEST_CASE("ids of different kinds are different types and name themselves", "[core]")
{
    static_assert(!std::is_convertible_v<inbox_id, email_id>);
    static_assert(!std::is_convertible_v<uuid, inbox_id>);
    const auto id = inbox_id::make();

    CHECK(inbox_id::parse(id.text()).value() == id);
    const auto wrong = webhook_id::parse(std::string(200, 'x'));
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == errc::invalid_argument);
    CHECK_THAT(wrong.error().message,
               Catch::StartsWith("webhookId must be a UUID") && Catch::EndsWith("x…\""));
}

TEST_CASE("ids can be keys of hash tables", "[core]")
{
    std::unordered_set<inbox_id> ids;
    for (int i = 0; i < 1'000; ++i)
        ids.insert(inbox_id::make());

    CHECK(ids.size() == 1'000);
}

TEST_CASE("the lowest id of a millisecond is below every id of it and above those before", "[core]")
{
    const time_point moment{std::chrono::milliseconds(1'795'000'000'123)};
    const auto lowest = uuid::lowest_v7(moment);

    CHECK(lowest.time() == moment);
    CHECK(lowest.text().substr(13) == "-0000-0000-000000000000");
    CHECK(lowest < uuid::make_v7(moment));
    CHECK(uuid::lowest_v7(moment + std::chrono::milliseconds(1)) > lowest);
    CHECK(uuid::lowest_v7(time_point(std::chrono::hours(-1))).is_nil());
}
