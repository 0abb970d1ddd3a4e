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

// What happens to a block. Units are spent while it is open or syncing.
//
// | from       | event                                       | to                    |
// |------------|---------------------------------------------|-----------------------|
// | open       | a grow or a report is sent                  | syncing               |
// |            | others hold units that may come back        | reclaiming            |
// |            | the block is to be given back               | close_due             |
// | syncing    | the statement ended or failed               | open                  |
// |            | the block is to be given back               | closing               |
// |            | the database does not know the block        | as after the close    |
// | reclaiming | the other holders have answered or are late | open                  |
// |            | the block is to be given back               | close_due             |
// | close_due  | the close is sent                           | closing               |
// |            | the database cannot know the block          | as after the close    |
// | closing    | a statement sent before the close ended     | close_due             |
// |            | the statement failed                        | close_due             |
// |            | the close ended; calls wait for the day     | open, with a new      |
// |            |                                             | block; or reclaiming  |
// |            | the close ended; no call waits for the day  | ended                 |
//
// A close does not wait for the other holders to answer. If they are still being called when it has
// ended, the new block begins as reclaiming.
enum class block_phase {
    open,       // no statement is under way
    syncing,    // a grow or a report is under way
    reclaiming, // other holders are being called; nothing is spent until they have answered
    close_due,  // nothing is spent any more, no statement is under way; sweep() tries again
    closing,    // nothing is spent any more, a statement is under way: the close, or one before it
    ended       // in no list any more
};

// The block this replica holds of one account's day, and the calls that wait for it. While it has
// not ended, it is in the pool's list of this day's blocks or in that of other days' blocks.
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
    block_phase phase = block_phase::open;
    // Facts that hold in any phase:
    bool was_requested = false; // the database may have a row for the block
    bool has_new_usage = false; // the database counted usage that the statement may have missed
    bool was_reclaimed_in_need = false; // holders were called since a grow last granted units
    bool is_calling_holders = false;    // outlives `reclaiming` if the block is closed meanwhile
    moment used_at{};
    moment last_sync_at{};
    moment next_reclaim_at{};
    moment refused_until{};

    account_block(const boost::asio::any_io_executor& executor, block initial)
        : current(std::move(initial)),
          sync_ended(executor)
    {}

    bool is_spendable() const
    {
        return phase == block_phase::open || phase == block_phase::syncing;
    }
    bool has_statement() const
    {
        return phase == block_phase::syncing || phase == block_phase::closing;
    }
    bool is_closing() const
    {
        return phase == block_phase::close_due || phase == block_phase::closing;
    }

    // Nothing is spent from now on. Not for a block that has ended.
    void stop_spending()
    {
        phase = has_statement() ? block_phase::closing : block_phase::close_due;
    }
    // Call this before each statement; false if none may be sent now.
    bool begin_statement()
    {
        if (phase != block_phase::open && phase != block_phase::close_due)
            return false;
        phase = is_closing() ? block_phase::closing : block_phase::syncing;
        return true;
    }
    void end_statement() { phase = is_closing() ? block_phase::close_due : block_phase::open; }
    void begin_reclaim()
    {
        phase = block_phase::reclaiming;
        is_calling_holders = true;
    }
    void end_reclaim()
    {
        is_calling_holders = false;
        if (phase == block_phase::reclaiming)
            phase = block_phase::open;
    }
    // A new block for the calls that still wait, after the close of the one before.
    void start_new_block()
    {
        current =
            block(current.account(), current.on_day(), uuid::make_v7(), current.newest_limit());
        was_requested = false;
        phase = is_calling_holders ? block_phase::reclaiming : block_phase::open;
    }

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
