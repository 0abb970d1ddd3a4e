#include "gateway/quota/lookup_limiter.hpp"

namespace tempinbox::gateway {

lookup_limiter::lookup_limiter(runtime::host& host, std::size_t at_once, std::size_t max_waiting,
                               std::chrono::milliseconds timeout)
    : credentials::lookup_limiter(
          host,
          host.metrics().counter("tempinbox_gateway_unknown_lookups_refused_total",
                                 "Look-ups of unknown keys and sessions, and attempts to sign in, "
                                 "refused: too many at once"),
          at_once, max_waiting, timeout)
{}

failure too_many_lookups()
{
    return failure{
        errc::unavailable,
        "Too many unknown keys, sessions and sign-ins are looked up at this moment; try again",
        error_reason::busy};
}

} // namespace tempinbox::gateway
