#pragma once

#include "common/async/reset_event.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/block_sync_batcher.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

namespace tempinbox::rate_limit {

// One account's request for units.
struct quota_request
{
    account_id account;
    std::int64_t units = 0;
    versioned_limit limit;
};

// The decision on a request: `granted` units pass, `undecided` ones could not be judged in time,
// the rest is refused.
struct decision
{
    std::int64_t granted = 0;
    std::int64_t undecided = 0;
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    day on_day{};
    bool is_known = false; // whether limit, remaining and on_day are set
};

struct block_pool_settings
{
    std::chrono::milliseconds timeout{200}; // of one call; what is not decided by then is undecided
    std::chrono::milliseconds idle_time{10'000};  // before a block is given back
    std::chrono::milliseconds lease_time{30'000}; // the block's TTL, renewed at half of it
    std::size_t accounts = 200'000;               // held in memory at once
};

// The blocks of this replica, one for each account. Units are spent from memory and pass only if
// they were granted. When a block is used up, one sync for all calls that wait for the account asks
// the database for more; before it refuses, the pool reclaims blocks from other holders. If the
// database is unavailable, the units held are spent, then requests are undecided. Blocks are given
// back when idle, when the day ends, when another replica reclaims them, when too many accounts are
// held (LRU), and by close(). Runs on the loop.
class block_pool
{
public:
    // Asks a holder to give back its block of the account. Returns when it did, or after a short
    // timeout. This and the statement are functions, so that tests can run many replicas on a model
    // of the ledger, lose their calls and kill them, quickly and in any order.
    using reclaim_call =
        std::function<awaitable<void>(std::string holder, account_id account, day on_day)>;

    block_pool(runtime::host& host, const clock_source& clock, sync_statement sync,
               reclaim_call reclaim, block_pool_settings chosen = block_pool_settings());
    ~block_pool();
    block_pool(const block_pool&) = delete;

    // Decisions in the order of the requests, within `timeout`. Throws dependency_error when the
    // pool is closing or holds twice its accounts.
    awaitable<std::vector<decision>> take(std::vector<quota_request> requests);
    // Gives back what this replica holds of the account's day; true once the database has recorded
    // it.
    awaitable<bool> give_back(account_id account, day on_day);
    // Reports all spent units of the account to the database; gives up after 150 ms.
    awaitable<void> report_usage(account_id account);
    // To be called when the database counted usage of this account outside its block: reads the new
    // totals.
    void refresh(account_id account);
    // Gives everything back; at the end of the process.
    awaitable<void> close(std::chrono::milliseconds deadline);
    // Renews TTLs and gives back idle blocks and those of other days: at most 100 of each at a
    // time, and only once a second while requests wait for statements. Call it every second, and
    // soon again if it returns true: there is more.
    bool sweep();
    std::size_t size() const { return account_blocks_.size(); }

private:
    struct call;
    struct account_block;
    using account_block_ptr = std::shared_ptr<account_block>;

    account_block_ptr find_or_make(const quota_request& request, day today);
    void start(const std::shared_ptr<call>& caller, std::size_t index, const quota_request& request,
               day today);
    void serve(account_block& h);
    void finish_waiters(account_block& h, bool is_refused);
    void sync(const account_block_ptr& h, block_sync action);
    void synced(const account_block_ptr& h, const block_sync_request& reported,
                const block_sync_result* result);
    void continue_after_sync(const account_block_ptr& h, const block_sync_request& reported,
                             const block_sync_result& result);
    void start_closing(const account_block_ptr& h);
    void closed(const account_block_ptr& h);
    void failed(const account_block_ptr& h);
    void start_reclaim(const account_block_ptr& h, std::vector<std::string> holders);
    awaitable<void> reclaim_then_sync(account_block_ptr h, std::vector<std::string> holders);
    awaitable<void> retry_later(account_block_ptr h);
    void leave_other_days(day today);
    void evict_lru();

    runtime::host& host_;
    const clock_source& clock_;
    reclaim_call reclaim_;
    block_pool_settings settings_;
    block_sync_batcher batcher_;
    std::unordered_map<account_id, account_block_ptr> account_blocks_;
    std::list<account_block_ptr> lru_;    // least recently used first
    std::set<account_block_ptr> leaving_; // of other days, until they are given back
    day today_{};
    std::chrono::steady_clock::time_point next_sweep_at_{}; // while requests wait for statements
    bool is_closing_ = false;
    async::reset_event all_closed_;
    prometheus::Gauge& accounts_;
    prometheus::Counter& refused_;
    prometheus::Counter& undecided_;
};

} // namespace tempinbox::rate_limit
