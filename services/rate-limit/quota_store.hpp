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

// What was counted as used because nobody renewed it.
struct written_off
{
    std::int64_t blocks = 0;
    std::int64_t units = 0;
};

// Days and blocks at rest. A batch of settlements is one SQL statement that locks its rows by
// account and day, so that replicas do not deadlock. Throws dependency_error when PostgreSQL cannot
// be reached; a statement whose outcome is unknown may be repeated.
class quota_store
{
public:
    // `holder`: where other replicas ask for this one's blocks.
    quota_store(postgres::pool& db, std::string holder, std::chrono::milliseconds lease_time);

    // In the order of the requests, which must be by account and day, one a block.
    awaitable<std::vector<block_sync_result>> sync(std::vector<block_sync_request> requests);
    // By account and day; what is stored already counts nothing again.
    awaitable<void> store_usage(std::vector<unreported_usage> usages);
    awaitable<written_off> write_off();
    // Deletes some of the days before `oldest` and of the blocks and debts before `today`; how many
    // rows.
    awaitable<std::size_t> purge_before(day oldest, day today);
    // The days from `first` on that have any use, oldest first.
    awaitable<std::vector<day_use>> list_days(account_id account, day first);

    void set_holder(std::string holder) { holder_ = std::move(holder); }

private:
    std::function<void(pqxx::connection_base&)>
    make_sync_query(std::vector<block_sync_request> requests,
                    std::shared_ptr<std::vector<block_sync_result>> results) const;

    postgres::pool& db_;
    std::string holder_;
    std::chrono::milliseconds lease_time_;
};

} // namespace tempinbox::rate_limit
