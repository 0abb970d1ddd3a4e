#pragma once

#include <chrono>
#include <cstdint>

namespace tempinbox {

// How often something happened on one UTC day.
struct daily_count
{
    std::chrono::sys_days day;
    std::int64_t number = 0;
};

} // namespace tempinbox
