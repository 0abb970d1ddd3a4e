#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/email_deliveries.hpp"
#include "webhook-dispatcher/storage/logged_delivery.hpp"
#include "webhook-dispatcher/storage/queue_repository.hpp"
#include "webhook-dispatcher/storage/rule.hpp"

#include "common/core/daily_count.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// Of each delivery; more than ten attempts come from manual retries and replays.
inline constexpr int max_attempts_shown = 20;
// A page with a filter reads at most this many finished deliveries.
inline constexpr int max_rows_scanned = 2'000;

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
    bool found_one = false; // else there was no replay to step
    webhook_id webhook;     // of that replay
    std::int64_t moved = 0;
    bool has_ended = false;
};

// Deliveries as their account sees them, why emails went where they went, and what is sent because
// an account requested it, one by one or as a replay. The log is kept as long as its events. While
// a single delivery is sent, its row is in `due_deliveries` under a lease, so that nobody else
// sends it and a crash leaves it to be sent once more. Each step of a replay is one transaction
// that moves a few deliveries and the replay's position, so any process continues where another
// died, and nothing is moved twice. Throws when PostgreSQL cannot be reached.
class delivery_repository
{
public:
    explicit delivery_repository(postgres::pool& db);

    // `before`: only older events. Not_found if the account has no such webhook.
    awaitable<result<log_page>> list_deliveries(account_id account, webhook_id webhook,
                                                std::optional<delivery_status> status,
                                                std::optional<event_id> before, int limit);
    awaitable<result<logged_delivery>> find_delivery(account_id account, webhook_id webhook,
                                                     event_id event);
    // The finished deliveries of the account's webhooks, successful or not, by the day of their
    // event: the last `days` days, today included, oldest first; days without deliveries are left
    // out. Reads the index of each webhook one day at a time.
    awaitable<std::vector<daily_count>> count_deliveries(account_id account, int days);

    // The match of each rule, in the order of the rules. Absent if no rule was evaluated, or the
    // routing is not stored yet or no longer.
    using routing = std::optional<std::vector<rule_match>>;
    // Of each email, in the given order; a damaged one is internal, alone.
    awaitable<std::vector<result<routing>>>
    find_routings(std::vector<std::pair<account_id, event_id>> emails);

    // What became of the email. Empty if nothing of it is stored, or it is another account's.
    awaitable<email_deliveries> find_email_deliveries(account_id account, event_id email);

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
    // One step of a replay: moves deliveries back to `due_deliveries`, up to 32 unattempted ones of
    // the webhook. Ends a replay whose webhook is deleted or switched off. step_due_replay takes
    // the replay that is overdue the longest: one is due half a second after its last step, or 5 s
    // if that found no room.
    // step_replay_of takes the webhook's replay whose last step is the longest ago, due or not.
    awaitable<replay_step> step_due_replay();
    awaitable<replay_step> step_replay_of(webhook_id webhook);
    // Purges replays that ended.
    awaitable<int> purge_replays_older_than(int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
