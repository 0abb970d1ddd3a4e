#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "webhook-dispatcher/storage/delivery.hpp"

#include "common/postgres/pool.hpp"

#include <cstdint>

namespace tempinbox::webhooks {

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
    bool was_found = false; // else there was no replay to step
    webhook_key webhook;    // of that replay
    std::int64_t moved = 0;
    bool has_ended = false;
};

// Replays: finished deliveries that are sent again. Each step is one transaction that moves a few
// deliveries and the replay's position, so any process continues where another died, and nothing is
// moved twice. A webhook that cannot be replayed is a value; throws when PostgreSQL cannot be
// reached.
class replay_repository
{
public:
    explicit replay_repository(postgres::pool& db);

    // Returns how many deliveries it will send, without tests; a repeated id returns the first
    // result. Conflict if the webhook is switched off or has too many replays under way.
    awaitable<result<std::int64_t>> begin(replay_params params);
    // One step of a replay: moves deliveries back to `due_deliveries`, up to 32 unattempted ones of
    // the webhook. Ends a replay whose webhook is deleted or switched off. step_due takes
    // the replay that is overdue the longest: one is due half a second after its last step, or 5 s
    // if that found no room.
    // step_of takes the webhook's replay whose last step is the longest ago, due or not.
    awaitable<replay_step> step_due();
    awaitable<replay_step> step_of(webhook_key webhook);
    // Purges replays that ended.
    awaitable<int> purge_older_than(int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
