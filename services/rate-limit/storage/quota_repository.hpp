#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "rate-limit/block.hpp"
#include "rate-limit/usage_reconciler.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::rate_limit {

// What an account used of one day.
struct day_use
{
    day on_day;
    std::int64_t requests = 0;
};

// Blocks counted as used because their TTL ended without a renewal.
struct written_off
{
    std::int64_t blocks = 0;
    std::int64_t units = 0;
};

// The stored days and blocks. A batch of syncs is one SQL statement that locks its rows by account
// and day, so that replicas do not deadlock. Throws dependency_error when PostgreSQL cannot be
// reached; a statement whose outcome is unknown may be repeated.
class quota_repository
{
public:
    // `holder`: the address at which other replicas reclaim this one's blocks.
    quota_repository(postgres::pool& db, std::string holder, std::chrono::milliseconds lease_time);

    // Requests must be sorted by account and day, at most one for each block; results in their
    // order.
    awaitable<std::vector<block_sync_result>> sync(std::vector<block_sync_request> requests);
    // Usages must be sorted by account and day; ids that are already stored are not counted again.
    awaitable<void> store_usage(std::vector<unreported_usage> usages);
    awaitable<written_off> write_off();
    // Deletes a batch of the days before `oldest`, and of the blocks and usage ids that nobody
    // needs on `today` any more; returns how many rows.
    awaitable<std::size_t> purge_before(day oldest, day today);
    // The days since `first` that have any use, oldest first.
    awaitable<std::vector<day_use>> list_days(account_id account, day first);

    void set_holder(std::string holder) { holder_ = std::move(holder); }

private:
    std::function<void(pqxx::connection&)>
    make_sync_query(std::vector<block_sync_request> requests,
                    std::shared_ptr<std::vector<block_sync_result>> results) const;

    postgres::pool& db_;
    std::string holder_;
    std::chrono::milliseconds lease_time_;
};

} // namespace tempinbox::rate_limit
