#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <cstddef>
#include <memory>

namespace tempinbox::gateway {

// Limits lookups for strangers in PostgreSQL: keys and sessions that this gateway has not seen
// good, and attempts to sign in. A few run at a time, so they use only their share of the
// connections; some wait briefly, the rest are refused. Runs on the loop.
class lookup_limiter
{
public:
    // `at_once` is at least 1.
    lookup_limiter(runtime::host& host, std::size_t at_once, std::size_t max_waiting = 64,
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

// The error for a refused lookup.
failure too_many_lookups();

} // namespace tempinbox::gateway
