#pragma once

namespace tempinbox::async {

// Gives the thread that calls it a ninth of the loop's share of a core where both want it: for work
// that may take what the loop leaves. A thread whose priority cannot be set works all the same.
void lower_thread_priority();

} // namespace tempinbox::async
