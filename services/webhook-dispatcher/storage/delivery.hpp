#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::webhooks {

// How long a claim holds: the whole exchange, and as long again to record its outcome. Derived from
// the deadline, never set on its own.
inline constexpr std::chrono::milliseconds exchange_deadline{15'000};
inline constexpr std::chrono::milliseconds lease_time =
    exchange_deadline + std::chrono::milliseconds{15'000};
// With less than this left, the request is not sent: another process may soon take over the
// delivery.
inline constexpr std::chrono::milliseconds min_lease_to_send{20'000};

struct webhook_key
{
    account_id account;
    webhook_id webhook;
    friend auto operator<=>(const webhook_key&, const webhook_key&) = default;
};

struct delivery_key
{
    event_id event;
    webhook_id webhook;
    friend auto operator<=>(const delivery_key&, const delivery_key&) = default;
};

// First attempts and retries have slots of their own, so that neither waits for the other.
enum class queue_kind { first, retry };

// One of an endpoint's two queues that has deliveries due: first attempts or retries.
struct due_queue
{
    account_id account;
    webhook_id webhook;
    queue_kind queue = queue_kind::first;
};

struct claim_request
{
    due_queue queue;
    std::size_t capacity = 0;
    std::uint64_t noted = 0; // identifies the backlog this request is for
};

// The outcome of a delivery that this process held, to be recorded.
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
    bool is_email = false; // that was received, not an inbox's event
    webhook_id webhook;
    account_id account;
    uuid lease;
    state next = state::waiting;
    int attempts = 0;                  // made so far
    std::chrono::milliseconds wait{0}; // before it is due again
    bool is_replayed = false;          // a replay made it due, and it was not attempted since

    // The request that was sent, if any.
    bool has_attempt = false;
    time_point at;
    std::chrono::milliseconds took{0};
    unsigned status = 0;
    std::string error; // also why it ended without a request
    std::string response_body;

    // Why the endpoint is switched off; empty: it is not.
    std::string disables_endpoint;
    time_point endpoint_renewed_at; // of the endpoint it was sent to
};

std::string_view to_string(delivery_outcome::state state);

} // namespace tempinbox::webhooks
