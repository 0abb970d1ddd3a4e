#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/time.hpp"
#include "common/http/client.hpp"

#include <chrono>
#include <optional>

namespace tempinbox::cli {

// The service may have acted on a request that failed so: it was cut, or answered 502, 503 or 504.
bool may_have_worked(const http::client_response& response);

// How long to wait before a request is sent again: 0.25 s, 0.5 s, 1 s … 8 s times `jitter` (0.5 to
// 1) after a cut connection, a 429, 502, 503 or 504, and as long as its `Retry-After` says if that
// is longer. Absent: the response is final. `attempts`: that were made.
std::optional<std::chrono::milliseconds> retry_delay(const http::client_response& response,
                                                     unsigned attempts, double jitter);

// Where each request succeeds sooner or later, such as a webhook's: 1 s, 2 s, 4 s … 60 s.
std::chrono::seconds delivery_delay(unsigned attempts);

// Retry-After (RFC 9110 10.2.3), seconds or a date; absent where it is neither.
std::optional<std::chrono::seconds> read_retry_after(const http::client_response& response,
                                                     time_point now);

awaitable<void> wait_a_while(std::chrono::milliseconds delay);

} // namespace tempinbox::cli
