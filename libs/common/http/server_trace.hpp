#pragma once

#include "common/http/message.hpp"
#include "common/http/server.hpp"
#include "common/trace/tracer.hpp"

namespace tempinbox::http {

// The span of a request that was just read; empty if the server has none for it. A request that
// begins a trace of its own which is not recorded has none: to carry its context along would cost
// more than all spans of a cached response.
trace::span begin_request_span(trace::tracer& tracer, const server_settings& settings,
                               const request& received);

// Names the span after what was served, and ends it.
void end_request_span(trace::span& span, const server_settings& settings, const request& received,
                      unsigned status);

// The access log's line of a request.
void log_access(const trace::span& span, const server_settings& settings, const request& received,
                unsigned status, std::chrono::duration<double> took);

} // namespace tempinbox::http
