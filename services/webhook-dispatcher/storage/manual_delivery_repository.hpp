#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/queue_repository.hpp"

#include "common/postgres/pool.hpp"

#include <chrono>
#include <string>

namespace tempinbox::webhooks {

// A delivery taken under a lease to be sent manually.
struct taken_delivery
{
    bool was_sent_before = false; // by the same request, whose response was lost: send nothing
    bool was_finished = false;
    int attempts = 0; // made so far
    time_point began;
    std::string body;
    std::string traceparent;
};

// The result of one manual request.
struct manual_attempt
{
    event_id event;
    webhook_id webhook;
    account_id account;
    uuid lease;
    bool was_finished = false;
    bool has_succeeded = false;
    int number = 1;
    time_point at;
    std::chrono::milliseconds took{0};
    unsigned status = 0;
    std::string error;
    std::string response_body;
};

// Deliveries that are sent one by one because their account requested it: manual retries and test
// events. While one is sent, its row is in `due_deliveries` under a lease, so that nobody else
// sends it and a crash leaves it to be sent once more. What cannot be sent now is a value; throws
// when PostgreSQL cannot be reached.
class manual_delivery_repository
{
public:
    explicit manual_delivery_repository(postgres::pool& db);

    // Stores the event with its only delivery, as if it had been attempted so many times.
    // Rate_limited if the webhook was tested too often.
    awaitable<result<taken_delivery>> begin_test(new_event event, webhook_id webhook, int attempts,
                                                 uuid lease);
    // Conflict while the delivery is being sent; rate_limited if too many were sent manually.
    awaitable<result<taken_delivery>> take(account_id account, webhook_id webhook, event_id event,
                                           uuid lease);
    // A delivery that was finished before ends with this result. A pending one ends if it
    // succeeded; otherwise it waits for its next attempt as before.
    awaitable<void> finish(manual_attempt attempt);
    // Purges limits unused for a day.
    awaitable<int> purge_limits();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
