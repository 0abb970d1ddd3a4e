#pragma once

#include "webhook-dispatcher/delivery/window.hpp"
#include "webhook-dispatcher/routing/account_config.hpp"

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace tempinbox::webhooks {

// How long a claim holds: the whole exchange and as long again to write down what came of it. Derived, never set apart.
inline constexpr std::chrono::milliseconds exchange_deadline{15'000};
inline constexpr std::chrono::milliseconds lease_time = exchange_deadline + std::chrono::milliseconds{15'000};
// With less than this left the request is not sent: another process may soon take the delivery over.
inline constexpr std::chrono::milliseconds least_lease_to_send{20'000};

// What is sent for an event, whoever gets it.
struct outgoing_event
{
    event_id id;
    std::string body; // the exact bytes
    std::string traceparent;
};

// One delivery held by this process, under a lease.
struct delivery_job
{
    std::shared_ptr<const outgoing_event> event;
    std::shared_ptr<const receiver> to;
    int attempts_made = 0;
    uuid lease;
    std::chrono::steady_clock::time_point lease_end;
    time_point began; // when the delivery became due for the first time

    delivery_job() = default;
    lane_kind lane() const { return attempts_made == 0 ? lane_kind::first : lane_kind::retry; }
};

// What came of one, to be written down.
struct delivery_outcome
{
    enum class state {
        waiting,
        succeeded,
        exhausted,
        aborted,
        skipped_disabled,
        dropped // leaves no trace: its endpoint was deleted
    };

    event_id event;
    webhook_id webhook;
    account_id account;
    uuid lease;
    state next = state::waiting;
    int attempts = 0;                  // made so far
    std::chrono::milliseconds wait{0}; // before it is due again

    // The request that was sent, where one was.
    bool has_attempt = false;
    time_point at;
    std::chrono::milliseconds took{0};
    unsigned status = 0;
    std::string error; // also why it ended without a request
    std::string response_body;

    // Why the endpoint is to be switched off; empty: it is not.
    std::string disables_endpoint;

    delivery_outcome() = default;
};

std::string_view to_string(delivery_outcome::state state);

} // namespace tempinbox::webhooks
