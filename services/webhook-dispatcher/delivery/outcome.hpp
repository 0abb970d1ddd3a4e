#pragma once

#include "webhook-dispatcher/delivery/delivery_decision.hpp"
#include "webhook-dispatcher/delivery/job.hpp"
#include "webhook-dispatcher/storage/delivery.hpp"

#include <chrono>
#include <string>

namespace tempinbox::webhooks {

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
