#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/history/logged_delivery.hpp"

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
    bool found_one = false; // a replay was due for a step
    std::int64_t moved = 0;
    bool has_ended = false;
};

// The stored replays. Each step is one transaction that moves a few deliveries and the replay's
// position, so any process continues where another died, and nothing is moved twice. Throws when
// PostgreSQL cannot be reached.
class replay_store
{
public:
    explicit replay_store(postgres::pool& db);

    // Returns how many deliveries it will send, without tests; a repeated id returns the first
    // result. Conflict if the webhook is switched off or has too many replays under way.
    awaitable<result<std::int64_t>> begin(replay_params params);
    // One step of the replay that waited longest: moves deliveries back to `due_deliveries`, up to
    // 32 unattempted ones of the webhook. Ends a replay whose webhook is deleted or switched off.
    awaitable<replay_step> step();
    // Purges replays that ended.
    awaitable<int> purge_older_than(int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
