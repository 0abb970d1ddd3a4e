#pragma once

#include <chrono>

namespace tempinbox::runtime {

// CPU time that the calling thread has used; zero where the system does not say.
std::chrono::nanoseconds thread_cpu();

} // namespace tempinbox::runtime
