#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"
#include "common/postgres/restore_steps.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a database that was restored to an earlier moment needs in this schema before its services
// start again (docs/operations/backup.md): other services and Kafka have seen newer versions, and
// keys, sessions and links that ended after the moment would live again. Each call is one
// transaction, and those that return a step's progress do one batch of it: call them until it is
// finished. Refusals are values; an unreachable PostgreSQL throws.
namespace tempinbox::accounts {

struct restore
{
    std::string id; // of postgres::restored_server
    time_point moment;
    bool keeps_keys = false;
    std::int64_t version = 0; // of all that is published again
    std::optional<time_point> began_at;
    std::optional<time_point> offsets_set_at;
    std::optional<time_point> settled_at;
};

// What there is to settle.
struct restored_accounts
{
    std::int64_t version = 0; // of accounts.changes
    std::int64_t accounts = 0;
    std::int64_t sessions = 0; // with links and codes that were mailed
    std::int64_t keys = 0;     // live ones that are not suspended
};

constexpr std::size_t restore_batch_size = 1'000;

awaitable<restored_accounts> count_restored_accounts(postgres::pool& db);
awaitable<std::optional<restore>> find_restore(postgres::pool& db, std::string id);

// Notes the restore and raises accounts.changes above `published_version`, the highest version that
// Kafka's account.state holds. A restore that is noted already is returned as it is; conflict if
// its moment or what becomes of keys was another.
awaitable<result<restore>> begin_restore(postgres::pool& db, restore requested,
                                         std::int64_t published_version);

// Stamps every account with the restore's version (one that was changed since then keeps its higher
// one) and writes its account.state event, which the
// gateways publish once they run; deleted accounts get their tombstone.
awaitable<postgres::step_progress> republish_states(postgres::pool& db, restore of);
// Writes tombstones for those of the accounts that the database does not have: up to
// restore_batch_size ids a call. `is_last` finishes the step.
awaitable<postgres::step_progress> publish_lost_accounts(postgres::pool& db, restore of,
                                                         std::vector<account_id> known_elsewhere,
                                                         bool is_last);
// Those of the accounts that the database does not have.
awaitable<std::vector<account_id>> find_lost_accounts(postgres::pool& db,
                                                      std::vector<account_id> known_elsewhere);
// Ends all sessions, and deletes links and codes that were mailed: they could have been used after
// the moment.
awaitable<postgres::step_progress> end_all_sessions(postgres::pool& db, restore of);
// Suspends all live keys: each could have been revoked after the moment.
awaitable<postgres::step_progress> suspend_all_keys(postgres::pool& db, restore of);

awaitable<void> note_offsets_set(postgres::pool& db, std::string id);
awaitable<void> note_settled(postgres::pool& db, std::string id);

} // namespace tempinbox::accounts
