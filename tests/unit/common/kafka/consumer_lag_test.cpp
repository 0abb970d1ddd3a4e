#include "common/kafka/consumer_lag.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using kafka::consumer_lag;

namespace {

using steady = std::chrono::steady_clock;
using batch = std::vector<kafka::record>;

const kafka::partition_name here{"mail", 0};
const steady::time_point start{};
constexpr std::int64_t noon = 1'800'000'000'000;

kafka::record record_at(std::int64_t offset, std::int64_t millis)
{
    kafka::record one;
    one.topic = here.topic;
    one.partition = here.number;
    one.offset = offset;
    one.timestamp_millis = millis;
    return one;
}

std::int64_t age(const consumer_lag& lag, std::int64_t now, const batch& waiting = {})
{
    return lag.oldest_age_millis({&waiting}, now);
}

// A member whose group committed offset 10 of a partition; its record 9 was a minute old at noon.
consumer_lag assigned_at_noon()
{
    consumer_lag lag;
    lag.assign(here, consumer_lag::position{10, noon - 60'000}, noon);
    lag.note_beginning(here, 0);
    return lag;
}

} // namespace

TEST_CASE("a member that was just given a partition is behind by what its group left", "[kafka]")
{
    auto lag = assigned_at_noon();
    CHECK_FALSE(lag.records(here));

    lag.note_end(here, 25, noon, start, true);

    CHECK(lag.records(here) == 15);
    // Its records are about to arrive: that a partition was quiet for hours does not make it hours
    // behind.
    CHECK(age(lag, noon + 1'000) == 1'000);
    CHECK(age(lag, noon + 6'000) == 66'000);
}

TEST_CASE("a member that is behind and busy is as old as what it handled last", "[kafka]")
{
    auto lag = assigned_at_noon();
    lag.note_end(here, 1'000, noon, start, true);

    for (std::int64_t offset = 10; offset < 20; ++offset) {
        lag.note_read(record_at(offset, noon - 50'000 + offset), start);
        lag.note_handled(record_at(offset, noon - 50'000 + offset));
    }

    CHECK(lag.records(here) == 980);
    CHECK(age(lag, noon) == 50'000 - 19);
}

TEST_CASE("while a batch fails its oldest record ages", "[kafka]")
{
    auto lag = assigned_at_noon();
    lag.note_end(here, 12, noon, start, true);
    const batch running{record_at(10, noon - 5'000), record_at(11, noon - 4'000)};
    for (const auto& one : running)
        lag.note_read(one, start);

    CHECK(lag.records(here) == 2);
    CHECK(age(lag, noon, running) == 5'000);
    CHECK(age(lag, noon + 60'000, running) == 65'000);
}

TEST_CASE("while nothing is read the end is asked for, and what came meanwhile ages", "[kafka]")
{
    auto lag = assigned_at_noon();
    lag.note_end(here, 11, noon, start, true);
    lag.note_read(record_at(10, noon - 1), start);
    lag.note_handled(record_at(10, noon - 1));
    lag.note_end(here, 11, noon + 2'000, start, false);
    CHECK(lag.records(here) == 0);
    CHECK(age(lag, noon + 3'600'000) == 0);
    CHECK(lag.with_stale_end(start + 4s).empty());
    REQUIRE(lag.with_stale_end(start + 5s) == std::vector{here});

    lag.note_end(here, 14, noon + 3'600'000, start + 5s, true);

    CHECK(lag.with_stale_end(start + 9s).empty());
    CHECK(lag.records(here) == 3);
    // The age counts from the last moment at which nothing was left, not from the last record,
    // which was handled long ago.
    CHECK(age(lag, noon + 4'000) == 2'000);
}

TEST_CASE("without a commit a group begins where the partition does", "[kafka]")
{
    consumer_lag lag;
    lag.assign(here, std::nullopt, noon);
    lag.note_end(here, 30, noon, start, true);
    CHECK_FALSE(lag.records(here));

    CHECK(lag.note_beginning(here, 20) == 0);

    CHECK(lag.records(here) == 10);
}

TEST_CASE("what retention took before it was read is counted, once", "[kafka]")
{
    SECTION("before the member was there")
    {
        consumer_lag lag;
        lag.assign(here, consumer_lag::position{10, noon}, noon);
        REQUIRE(lag.without_beginning() == std::vector{here});

        CHECK(lag.note_beginning(here, 17) == 7);
        CHECK(lag.note_beginning(here, 17) == 0);
        lag.note_read(record_at(17, noon), start);
        CHECK(lag.without_beginning().empty());
    }
    SECTION("while it was behind")
    {
        auto lag = assigned_at_noon();
        lag.note_read(record_at(10, noon), start);
        CHECK(lag.without_beginning().empty());
        lag.note_read(record_at(40, noon), start);
        REQUIRE(lag.without_beginning() == std::vector{here});

        CHECK(lag.note_beginning(here, 40) == 29);
        CHECK(lag.without_beginning().empty());
    }
    SECTION("a gap that compaction left is none")
    {
        auto lag = assigned_at_noon();
        lag.note_read(record_at(10, noon), start);
        lag.note_read(record_at(40, noon), start);

        CHECK(lag.note_beginning(here, 0) == 0);
    }
}

TEST_CASE("a commit carries the time of the newest record", "[kafka]")
{
    CHECK(consumer_lag::from_metadata(consumer_lag::to_metadata(noon)) == noon);
    CHECK_FALSE(consumer_lag::from_metadata(""));
    CHECK_FALSE(consumer_lag::from_metadata("another program's"));
    CHECK_FALSE(consumer_lag::from_metadata("-5"));
}
