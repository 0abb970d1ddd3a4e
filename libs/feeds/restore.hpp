#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "common/postgres/restore_steps.hpp"

#include <cstdint>
#include <optional>
#include <string>

// What a restored database needs of the feeds of events before its services start again
// (docs/operations/backup.md): readers may know positions that were given after the moment. Each
// call is one transaction. An unreachable PostgreSQL throws.
namespace tempinbox::feeds {

constexpr std::size_t restore_batch_size = 1'000;

// Absent where schema `webhooks` is in a database of its own.
awaitable<std::optional<std::int64_t>> count_restored_feeds(postgres::pool& db);

// Has the next event of every feed begin an epoch, whatever server records it. Call it until it is
// finished.
awaitable<postgres::step_progress> begin_epochs(postgres::pool& db, std::string restore_id);

} // namespace tempinbox::feeds
