#pragma once

#include "common/http/message.hpp"
#include "gateway/quota/rate_limit_fields.hpp"

namespace tempinbox::gateway {

// X-RateLimit-Limit, -Remaining and -Reset.
void set_rate_limit_headers(http::response& response, const rate_limit_headers& rate_limit);

// The same for a response that the HTTP server made by itself, before the account is known: 0 / 0 /
// the next 00:00 UTC. Often not even the path is known, so every such response is treated as one of
// the API.
void complete_response_without_account(http::response& response, time_point now);

} // namespace tempinbox::gateway
