#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/queue_repository.hpp"

#include "common/postgres/pool.hpp"

#include <cstdint>
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

// A request to send finished deliveries again.
struct replay_params
{
    uuid id;
    account_id account;
    webhook_id webhook;
    time_point since;
    bool is_of_succeeded = false; // else of failed ones
};

// The result of one step.
struct replay_step
{
    bool found_one = false; // a replay was due for a step
    webhook_id webhook;     // of that replay
    std::int64_t moved = 0;
    bool has_ended = false;
};

// Deliveries that are sent because an account requested it, one by one or as a replay. While a
// single one is sent, its row is in `due_deliveries` under a lease, so that nobody else sends it
// and a crash leaves it to be sent once more. Each step of a replay is one transaction that moves a
// few deliveries and the replay's position, so any process continues where another died, and
// nothing is moved twice. Throws when PostgreSQL cannot be reached.
class manual_retry_repository
{
public:
    explicit manual_retry_repository(postgres::pool& db);

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

    // Returns how many deliveries it will send, without tests; a repeated id returns the first
    // result. Conflict if the webhook is switched off or has too many replays under way.
    awaitable<result<std::int64_t>> begin_replay(replay_params params);
    // One step of the replay that waited longest: moves deliveries back to `due_deliveries`, up to
    // 32 unattempted ones of the webhook. Ends a replay whose webhook is deleted or switched off.
    awaitable<replay_step> step_replay();
    // Purges replays that ended.
    awaitable<int> purge_replays_older_than(int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
