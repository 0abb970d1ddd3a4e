#include "common/rpc/timestamp.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("a time survives as a timestamp to the microsecond", "[rpc]")
{
    for (const std::int64_t micros : {0L, 1'795'305'599'123'456L, -1L, -1'000'001L}) {
        const auto stamp = rpc::to_timestamp(from_unix_micros(micros));
        CHECK(stamp.nanos() >= 0);
        CHECK(stamp.nanos() < 1'000'000'000);
        CHECK(to_unix_micros(rpc::to_time(stamp)) == micros);
    }

    google::protobuf::Timestamp fine;
    fine.set_seconds(1);
    fine.set_nanos(1'999);
    CHECK(to_unix_micros(rpc::to_time(fine)) == 1'000'001);
}

TEST_CASE("a day is the timestamp of its start, and any time of it reads as the day", "[rpc]")
{
    const std::chrono::sys_days day(std::chrono::year(2026) / 11 / 21);
    auto stamp = rpc::to_timestamp(day);
    CHECK(stamp.seconds() == 1'795'219'200);
    CHECK(stamp.nanos() == 0);
    stamp.set_seconds(stamp.seconds() + 86'399);
    CHECK(rpc::to_day(stamp) == day);
}
