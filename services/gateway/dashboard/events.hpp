#pragma once

#include "gateway/dashboard/event_stream.hpp"
#include "gateway/dashboard/session_issuer.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

awaitable<http::response> stream_events(const http::request& received, const caller& who,
                                        event_stream& stream, const session_issuer& issuer);

} // namespace tempinbox::gateway
