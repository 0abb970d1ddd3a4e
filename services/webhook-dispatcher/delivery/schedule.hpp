#pragma once

#include "common/core/ids.hpp"

#include <chrono>

namespace tempinbox::webhooks {

// When attempts are made. Attempt 1 is sent at once; the waits before the later ones (about 2.9
// days in all):
//   attempt   2    3     4      5      6    7    8     9     10
//   after     5 s  30 s  5 min  30 min 2 h  6 h  12 h  24 h  24 h
inline constexpr int attempt_limit = 10;

// However long a delivery waited behind an open breaker, it ends at this age.
inline constexpr std::chrono::hours delivery_lifetime{7 * 24};

// The wait before attempt n without jitter.
std::chrono::milliseconds base_wait(int attempt);

// Always the same for one (event, webhook, attempt), so that a test can predict it; evenly spread
// over [0, 1).
double jitter_seed(event_id event, webhook_id webhook, int attempt);

// base_wait × 0.8–1.2.
std::chrono::milliseconds jittered_wait(event_id event, webhook_id webhook, int attempt);

} // namespace tempinbox::webhooks
