#pragma once

#include "webhook-dispatcher/routing/account_config.hpp"
#include "webhook-dispatcher/storage/delivery.hpp"

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace tempinbox::webhooks {

// What is sent for an event, the same to every receiver.
struct outgoing_event
{
    event_id id;
    std::string body; // the exact bytes
    std::string traceparent;

    // `event` is the first member of every body (make_payload).
    bool is_email() const { return body.starts_with(R"({"event":"email.received")"); }
};

// One delivery held by this process, under a lease.
struct delivery_job
{
    std::shared_ptr<const outgoing_event> event;
    std::shared_ptr<const receiver> to;
    int attempts_made = 0;
    bool is_replayed = false; // its first attempt, too, takes a slot for retries
    uuid lease;
    std::chrono::steady_clock::time_point lease_end;
    time_point began; // when the delivery became due for the first time

    queue_kind queue() const
    {
        return attempts_made == 0 && !is_replayed ? queue_kind::first : queue_kind::retry;
    }
};

} // namespace tempinbox::webhooks
