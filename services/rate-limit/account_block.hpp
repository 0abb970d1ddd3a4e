#pragma once

#include "common/async/reset_event.hpp"
#include "common/async/wait_group.hpp"
#include "rate-limit/block_pool.hpp"

#include <deque>

namespace tempinbox::rate_limit {

// One call to `take` and its decisions so far. What is not decided when the call ends stays
// undecided.
struct block_pool::call
{
    std::vector<quota_request> requests;
    std::vector<decision> decisions;
    bool is_over = false;
    async::wait_group undecided;

    call(const boost::asio::any_io_executor& executor, std::vector<quota_request> given)
        : requests(std::move(given)),
          decisions(requests.size()),
          undecided(executor, requests.size())
    {
        for (std::size_t i = 0; i < requests.size(); ++i)
            decisions[i].undecided = requests[i].units;
    }

    void decide(std::size_t index, block& from)
    {
        auto& made = decisions[index];
        made.undecided = 0;
        made.is_known = true;
        made.limit = from.limit();
        made.remaining = from.take_remaining();
        made.on_day = from.on_day();
        leave();
    }

    void leave() { undecided.done(); }
};

// The block this replica holds of one account's day, and the calls that wait for it.
struct block_pool::account_block
{
    struct waiter
    {
        std::shared_ptr<call> caller;
        std::size_t index;
    };
    using moment = std::chrono::steady_clock::time_point;

    block current;
    std::deque<waiter> waiting;
    async::reset_event sync_ended; // set for a moment, even if the sync failed
    std::list<account_block_ptr>::iterator lru_position;
    bool is_leaving = false;
    bool was_requested = false; // the database may have a row for the block
    bool is_syncing = false;    // a statement is under way
    bool is_reclaiming = false; // other holders are being called
    bool is_closing = false;    // nothing is spent any more
    bool has_ended = false;     // in no list any more
    bool has_new_usage = false;
    bool was_reclaimed_in_need = false;
    moment used_at{};
    moment last_sync_at{};
    moment next_reclaim_at{};
    moment refused_until{};

    account_block(const boost::asio::any_io_executor& executor, block initial)
        : current(std::move(initial)),
          sync_ended(executor)
    {}

    void drop_timed_out_calls()
    {
        std::erase_if(waiting, [](const waiter& w) { return w.caller->is_over; });
    }

    void notify_sync_waiters()
    {
        sync_ended.set();
        sync_ended.reset();
    }
};

} // namespace tempinbox::rate_limit
