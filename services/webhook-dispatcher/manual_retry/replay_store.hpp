#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/history/logged_delivery.hpp"

#include "common/postgres/pool.hpp"

#include <cstdint>

namespace tempinbox::webhooks {

// A wish to send finished deliveries again.
struct replay_params
{
    uuid id;
    account_id account;
    webhook_id webhook;
    time_point since;
    bool is_of_succeeded = false; // else of failed ones
};

// One step of the replays.
struct replay_step
{
    bool found_one = false; // a replay was due for a step
    std::int64_t moved = 0;
    bool has_ended = false;
};

// Replays at rest. Each step is one transaction that moves a few deliveries and remembers how far
// it came, so any process goes on where another died, and nothing is moved twice. Throws when
// PostgreSQL cannot be reached.
class replay_store
{
public:
    explicit replay_store(postgres::pool& db);

    // Answers how many deliveries it will send, tests left out. The same id again: as the first
    // time. Conflict where the webhook is switched off or has too many replays under way.
    awaitable<result<std::int64_t>> begin(replay_params params);
    // Moves deliveries of the replay that waited longest back to `due`, unless as many wait untried
    // there already. A replay whose webhook is gone or switched off ends.
    awaitable<replay_step> step();
    // Ended ones.
    awaitable<int> purge_older_than(int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
