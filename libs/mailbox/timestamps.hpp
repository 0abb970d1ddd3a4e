#pragma once

#include "common/core/time.hpp"

#include <google/protobuf/timestamp.pb.h>

namespace tempinbox::mailbox {

inline void set_timestamp(google::protobuf::Timestamp& target, time_point time)
{
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    target.set_seconds(seconds.time_since_epoch().count());
    target.set_nanos(static_cast<std::int32_t>((time - seconds).count() * 1'000));
}

} // namespace tempinbox::mailbox
