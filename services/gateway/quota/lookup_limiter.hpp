#pragma once

#include "common/core/errors.hpp"
#include "common/credentials/lookup_limiter.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <cstddef>

namespace tempinbox::gateway {

// Limits lookups for strangers in PostgreSQL: keys and sessions that this gateway has not seen
// good, and attempts to sign in.
class lookup_limiter : public credentials::lookup_limiter
{
public:
    // `at_once` is at least 1.
    lookup_limiter(runtime::host& host, std::size_t at_once, std::size_t max_waiting = 64,
                   std::chrono::milliseconds timeout = std::chrono::seconds(1));
};

// The error for a refused lookup.
failure too_many_lookups();

} // namespace tempinbox::gateway
