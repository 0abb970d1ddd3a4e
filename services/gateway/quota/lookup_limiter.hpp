#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <cstddef>
#include <memory>

namespace tempinbox::gateway {

// What strangers may ask of PostgreSQL: keys and sessions that this gateway has not seen good, and
// attempts at the door. A few at a time, so that they take a share of the connections and no more;
// some wait briefly, the rest are refused. Runs on the loop.
class lookup_limiter
{
public:
    // `at_once` is at least 1.
    lookup_limiter(runtime::host& host, std::size_t at_once, std::size_t max_waiting = 64,
                   std::chrono::milliseconds timeout = std::chrono::seconds(1));

    // Held while it asks; may outlive the limiter.
    using slot = std::shared_ptr<const void>;

    // Null when too many ask already.
    awaitable<slot> enter();

private:
    struct state;

    std::shared_ptr<state> state_;
    prometheus::Counter& refused_;
};

// What who is refused is told.
failure too_many_lookups();

} // namespace tempinbox::gateway
