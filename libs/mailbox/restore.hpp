#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"
#include "common/postgres/restore_steps.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// What a database that was restored to an earlier moment needs in this schema before its services
// start again (docs/operations/backup.md): clients and Kafka know of emails and inboxes that are
// lost. Each call is one transaction, and those that return a step's progress do one batch of it.
// An unreachable PostgreSQL throws.
namespace tempinbox::mailbox {

// An inbox that Kafka knows of.
struct known_inbox
{
    account_id account;
    inbox_id id;
    std::string address;
};

constexpr std::size_t restore_batch_size = 1'000;
// More than any inbox got since the moment: no sequence is given to a second email, and no state of
// the inbox counts as older than one that is lost.
constexpr std::int64_t sequence_gap = 1'000'000;

awaitable<std::int64_t> count_restored_inboxes(postgres::pool& db);
awaitable<std::int64_t> count_restored_logins(postgres::pool& db); // that live

// Raises every inbox's last_sequence and state_version by sequence_gap. Call it until it is
// finished.
awaitable<postgres::step_progress> raise_sequences(postgres::pool& db, std::string restore_id);

// Ends all logins: those that were ended, and passwords that were rotated out, would be good again.
// Call it until it is finished.
awaitable<postgres::step_progress> end_all_logins(postgres::pool& db, std::string restore_id);

// Quarantines the addresses of those of the inboxes (up to restore_batch_size a call) that the
// database does not have: mail for their owner must reach nobody else; and keeps the subdomains of
// their catch-alls for their accounts as long. Writes their tombstones for inbox.state, too. A live
// inbox that has such an address keeps it. `is_last` finishes the step.
awaitable<postgres::step_progress> quarantine_lost(postgres::pool& db, std::string restore_id,
                                                   std::vector<known_inbox> published,
                                                   std::chrono::seconds quarantine, bool is_last);
// Those of the inboxes that the database does not have.
awaitable<std::vector<inbox_id>> find_lost_inboxes(postgres::pool& db,
                                                   std::vector<known_inbox> published);
// Those of the inboxes that are live.
awaitable<std::vector<inbox_id>> find_live_inboxes(postgres::pool& db,
                                                   std::vector<known_inbox> published);

} // namespace tempinbox::mailbox
