#pragma once

#include "common/runtime/completion.hpp"
#include "rate-limit/block_pool.hpp"

#include <deque>

namespace tempinbox::rate_limit {

// One call to `take` and its decisions so far. What is not decided when the call ends stays
// undecided.
struct block_pool::call
{
    std::vector<quota_request> requests;
    std::vector<decision> decisions;
    std::size_t open;
    bool is_over = false;
    runtime::completion done;

    call(const boost::asio::any_io_executor& executor, std::vector<quota_request> given)
        : requests(std::move(given)),
          decisions(requests.size()),
          open(requests.size()),
          done(executor)
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

    void leave()
    {
        if (--open == 0)
            done.set();
    }
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
    std::vector<std::shared_ptr<runtime::completion>>
        sync_waiters; // set when the next sync ends, even if it failed
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

    explicit account_block(block initial) : current(std::move(initial)) {}

    void drop_timed_out_calls()
    {
        std::erase_if(waiting, [](const waiter& w) { return w.caller->is_over; });
    }

    void notify_sync_waiters()
    {
        for (const auto& each : sync_waiters)
            each->set();
        sync_waiters.clear();
    }
};

} // namespace tempinbox::rate_limit
