#pragma once

#include "webhook-dispatcher/delivery/delivery_decision.hpp"
#include "webhook-dispatcher/delivery/job.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace tempinbox::webhooks {

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
    webhook_id webhook;
    account_id account;
    uuid lease;
    state next = state::waiting;
    int attempts = 0;                  // made so far
    std::chrono::milliseconds wait{0}; // before it is due again

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

// The outcome of a delivery that was not sent: its attempts unchanged, due again after `wait`.
delivery_outcome unsent_outcome(const delivery_job& job, std::chrono::milliseconds wait);

// One request and its result.
struct sent_request
{
    exchange_result result;
    time_point at;
    std::chrono::milliseconds took{0};
    std::string response_body;
};

attempt_facts facts_of(const delivery_job& job, time_point now);
delivery_outcome outcome_after(const delivery_job& job, sent_request sent,
                               const delivery_decision& decision);

} // namespace tempinbox::webhooks
