#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"

namespace tempinbox::runtime {

// Measures how late the loop is: tempinbox_event_loop_lag_seconds, the worst of the last five to
// ten seconds; how busy its thread is; and how many log lines were dropped. Runs as long as the
// loop.
awaitable<void> watch_loop_lag(host& host);

} // namespace tempinbox::runtime
