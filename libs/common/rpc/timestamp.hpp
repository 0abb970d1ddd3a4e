#pragma once

#include "common/core/time.hpp"

#include <google/protobuf/timestamp.pb.h>

namespace tempinbox::rpc {

// Protobuf's times; what is below a microsecond is cut off.
inline time_point to_time(const google::protobuf::Timestamp& stamp)
{
    return from_unix_micros(stamp.seconds() * 1'000'000 + stamp.nanos() / 1'000);
}

// Also of a day, as its start in UTC.
inline google::protobuf::Timestamp to_timestamp(time_point time)
{
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    google::protobuf::Timestamp stamp;
    stamp.set_seconds(seconds.time_since_epoch().count());
    stamp.set_nanos(static_cast<std::int32_t>((time - seconds).count() * 1'000));
    return stamp;
}

// The UTC day of any value that a message may have.
inline std::chrono::sys_days to_day(const google::protobuf::Timestamp& stamp)
{
    return std::chrono::floor<std::chrono::days>(
        std::chrono::sys_seconds(std::chrono::seconds(stamp.seconds())));
}

} // namespace tempinbox::rpc
