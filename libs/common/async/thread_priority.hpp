#pragma once

namespace tempinbox::async {

// Gives the thread that calls it another nice value, for good: for work that leaves the loop its
// core where both want one. At 5 it has a third of the loop's share, at 10 a ninth. A thread whose
// priority cannot be set works all the same.
void lower_thread_priority(int nice_value);

} // namespace tempinbox::async
