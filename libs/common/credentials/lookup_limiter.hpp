#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <cstddef>
#include <memory>

namespace tempinbox::credentials {

// Limits lookups for strangers in PostgreSQL: credentials that this process has not seen good. A
// few run at a time, so they use only their share of the connections; some wait briefly, the rest
// are refused and counted. Runs on the loop.
class lookup_limiter
{
public:
    // `at_once` is at least 1.
    lookup_limiter(runtime::host& host, prometheus::Counter& refused, std::size_t at_once,
                   std::size_t max_waiting = 64,
                   std::chrono::milliseconds timeout = std::chrono::seconds(1));

    // Held during the lookup; may outlive the limiter.
    using slot = std::shared_ptr<const void>;

    // Null when too many lookups are running and waiting.
    awaitable<slot> enter();

private:
    struct state;

    std::shared_ptr<state> state_;
    prometheus::Counter& refused_;
};

} // namespace tempinbox::credentials
