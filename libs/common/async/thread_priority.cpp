#include "common/async/thread_priority.hpp"

#include <sys/resource.h>
#include <unistd.h>

namespace tempinbox::async {

// In Linux each thread has a nice value; past 19 the kernel takes 19. A program may be started at a
// nice value of its own, and beside that a fixed one could be a higher priority than the loop's.
void lower_thread_priority(int nice_increment)
{
    thread_local const int lowered = [nice_increment] {
        const auto self = static_cast<id_t>(gettid());
        return setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + nice_increment);
    }();
    static_cast<void>(lowered);
}

} // namespace tempinbox::async
