#include "common/async/thread_priority.hpp"

#include <sys/resource.h>
#include <unistd.h>

namespace tempinbox::async {

// In Linux each thread has a nice value.
void lower_thread_priority(int nice_value)
{
    thread_local const int lowered =
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice_value);
    static_cast<void>(lowered);
}

} // namespace tempinbox::async
