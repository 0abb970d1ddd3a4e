#include "common/runtime/thread_cpu.hpp"

#include <time.h>

namespace tempinbox::runtime {

std::chrono::nanoseconds thread_cpu()
{
    timespec used{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0)
        return {};
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

} // namespace tempinbox::runtime
