#pragma once

#include "gateway/api/caller.hpp"
#include "gateway/dashboard_api/event_stream.hpp"
#include "gateway/dashboard_api/session_issuer.hpp"

namespace tempinbox::gateway {

awaitable<http::response> stream_events(const http::request& received, const caller& who,
                                        event_stream& stream, const session_issuer& issuer);

} // namespace tempinbox::gateway
