#pragma once

namespace tempinbox::async {

// Raises the nice value of the thread that calls it, for good: for work that leaves the loop its
// core where both want one. With 5 more it has a third of the loop's share, with 10 more a ninth. A
// thread whose priority cannot be set works all the same.
void lower_thread_priority(int nice_increment);

} // namespace tempinbox::async
