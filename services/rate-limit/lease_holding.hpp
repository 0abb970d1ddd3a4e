#pragma once

#include "common/runtime/completion.hpp"
#include "rate-limit/lease_book.hpp"

#include <deque>

namespace tempinbox::rate_limit {

// A call to `take` and what it came to so far. What is not decided when it is over stays undecided.
struct lease_book::call
{
    std::vector<ask> asks;
    std::vector<decision> decisions;
    std::size_t open;
    bool is_over = false;
    runtime::completion done;

    call(const boost::asio::any_io_executor& executor, std::vector<ask> wanted)
        : asks(std::move(wanted)),
          decisions(asks.size()),
          open(asks.size()),
          done(executor)
    {
        for (std::size_t i = 0; i < asks.size(); ++i)
            decisions[i].undecided = asks[i].units;
    }

    void decide(std::size_t place, lease& from)
    {
        auto& made = decisions[place];
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

// What this replica holds of one account's day, and who waits for it.
struct lease_book::holding
{
    struct waiter
    {
        std::shared_ptr<call> caller;
        std::size_t place;
    };
    using moment = std::chrono::steady_clock::time_point;

    lease units;
    std::deque<waiter> waiting;
    std::vector<std::shared_ptr<runtime::completion>>
        watchers; // of the end of the next settlement, for good or bad
    std::list<held>::iterator place_by_use;
    bool is_leaving = false;
    bool was_asked_for = false; // there may be a block to close
    bool is_settling = false;   // a statement is under way
    bool is_recalling = false;  // other holders are being asked
    bool is_closing = false;    // nothing is spent any more
    bool has_ended = false;     // in nobody's list any more
    bool has_new_debt = false;
    bool was_recalled_in_need = false;
    moment used_at{};
    moment told_at{};
    moment recall_again_at{};
    moment refused_until{};

    explicit holding(lease block) : units(std::move(block)) {}

    void forget_gone_callers()
    {
        std::erase_if(waiting, [](const waiter& w) { return w.caller->is_over; });
    }

    void tell_watchers()
    {
        for (const auto& each : watchers)
            each->set();
        watchers.clear();
    }
};

} // namespace tempinbox::rate_limit
