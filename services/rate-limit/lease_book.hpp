#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/completion.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/settlement_lane.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

namespace tempinbox::rate_limit {

// What one account asks for.
struct ask
{
    account_id account;
    std::int64_t units = 0;
    known_limit limit;
};

// What it comes to: of the units `granted` passed, `undecided` could not be judged in time, the
// rest is refused.
struct decision
{
    std::int64_t granted = 0;
    std::int64_t undecided = 0;
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    day on_day{};
    bool is_known = false; // whether limit, remaining and day say anything
};

struct lease_book_settings
{
    std::chrono::milliseconds patience{
        200}; // for one call; what is not decided by then is said to be undecided
    std::chrono::milliseconds idle_time{10'000};  // after which a block is given back
    std::chrono::milliseconds lease_time{30'000}; // renewed at half of it
    std::size_t accounts = 200'000;               // at once in memory
};

// The blocks of this replica, an account each. Spends from memory; asks the database for a block
// when one is used up, all who wait for an account sharing one settlement; asks other holders for
// theirs before it refuses. Units pass only when they were granted: with the database away what is
// held is spent, then asks are undecided. Blocks go back when idle, when the day ends, when another
// replica asks, when too many accounts are held, and at the end. Runs on the loop.
class lease_book
{
public:
    // Asks a holder to give back its block of the account; returns when it did, or after a short
    // while.
    using recall =
        std::function<awaitable<void>(std::string holder, account_id account, day on_day)>;

    lease_book(runtime::host& host, const clock_source& clock, settle_statement settle,
               recall ask_back, lease_book_settings chosen = lease_book_settings());
    ~lease_book();
    lease_book(const lease_book&) = delete;

    // Decisions in the order of the asks; in `patience` at most.
    awaitable<std::vector<decision>> take(std::vector<ask> asks);
    // Gives back what this replica holds of the account's day; true when it is settled.
    awaitable<bool> give_back(account_id account, day on_day);
    // Tells the database everything about the account.
    awaitable<void> tell(account_id account);
    // More of the account's day is used than its block says: asks the database.
    void refresh(account_id account);
    // Gives everything back; at the end of the process.
    awaitable<void> close(std::chrono::milliseconds deadline);
    // Renews leases, returns idle blocks and those of other days: a hundred of each at a time, and
    // where requests wait for statements once a second only. To be called every second, and soon
    // again when it says that there is more.
    bool tidy();
    std::size_t size() const { return holdings_.size(); }

private:
    struct call;
    struct holding;
    using held = std::shared_ptr<holding>;

    held find_or_make(const ask& wanted, day today);
    void start(const std::shared_ptr<call>& caller, std::size_t place, const ask& wanted,
               day today);
    void serve(holding& h);
    void end_waiting(holding& h, bool is_refused);
    void settle(const held& h, settlement action);
    void settled(const held& h, const block_request& told, const block_answer* answer);
    void go_on(const held& h, const block_request& told, const block_answer& answer);
    void start_closing(const held& h);
    void closed(const held& h);
    void failed(const held& h);
    void begin_anew(holding& h);
    void start_recall(const held& h, std::vector<std::string> holders);
    awaitable<void> recall_then_settle(held h, std::vector<std::string> holders);
    awaitable<void> look_again(held h);
    void leave_other_days(day today);
    void make_room();

    runtime::host& host_;
    const clock_source& clock_;
    recall ask_back_;
    lease_book_settings settings_;
    settlement_lane lane_;
    std::unordered_map<account_id, held> holdings_;
    std::list<held> by_use_; // the longest unused first
    std::set<held> leaving_; // of other days, until they are given back
    day today_{};
    std::chrono::steady_clock::time_point tidy_again_at_{}; // while requests wait for statements
    bool is_closing_ = false;
    std::shared_ptr<runtime::completion> all_closed_;
    prometheus::Gauge& accounts_;
    prometheus::Counter& refused_;
    prometheus::Counter& undecided_;
};

} // namespace tempinbox::rate_limit
