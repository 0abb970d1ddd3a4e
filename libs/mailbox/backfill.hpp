#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/time.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Events made again of what the database holds, with the ids, times and values that they had.
// Functions for `tempinboxctl events backfill`; each is one transaction, and an unreachable
// PostgreSQL throws.
namespace tempinbox::mailbox {

// Events of a type (the name of its topic) that happened from `since` on; of inbox.state, what the
// inboxes are now that were made from then on.
struct backfill
{
    std::string type;
    std::string to_topic;
    time_point since;
};

struct backfill_progress
{
    time_point until;     // what happened then or later is left out
    std::string position; // the rows up to it are done
    std::int64_t written = 0;
    std::int64_t skipped = 0; // inboxes of earlier releases, which kept no ids of their events
    bool is_finished = false;
};

// How far this backfill came, or a new one: if there was none, or `is_anew`. Without `until` a new
// one goes to the present. conflict if it was begun with another `until`.
awaitable<result<backfill_progress>> begin_backfill(postgres::pool& db, backfill request,
                                                    std::optional<time_point> until, bool is_anew);

struct backfill_batch
{
    std::vector<outbox::row> events;
    backfill_progress progress; // once the events are written
};

// What follows `progress`: at most `limit` rows are looked at. By account, and within an account in
// the order of ids; traceparents are new.
awaitable<backfill_batch> read_backfill(postgres::pool& db, backfill request,
                                        backfill_progress progress, int limit);

awaitable<void> save_backfill(postgres::pool& db, backfill request, backfill_progress progress);

// For a topic that the services write, too: puts the batch into the outbox, where a sweep publishes
// it and sees to it that a newer state stays behind an older one (inbox_state_rows.hpp), and saves
// the progress in the same transaction.
awaitable<void> queue_backfill(postgres::pool& db, backfill request, backfill_batch batch);

} // namespace tempinbox::mailbox
