#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "common/kafka/message.hpp"
#include "common/runtime/host.hpp"
#include "common/runtime/periodic_task.hpp"
#include "gateway/waiting/inbox_watch.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// How many requests may wait at once: in all, and so that one account leaves room for the others.
struct wait_bounds
{
    std::size_t in_all = 0;
    std::size_t of_account = 0;
    std::size_t for_each_of_burst = 10; // times the burst of the account's plan, where it has one
    std::size_t of_sessions = 8;        // of an account, through its sessions

    explicit wait_bounds(std::size_t most) : in_all(most), of_account(most) {}
};

// Every request of this process that waits for mail, by inbox. Woken by the events of the topics;
// once a second all inboxes are looked at besides, hundreds in one call, so that lost events cost a
// second and nothing else. Bounded; runs on the loop.
class waiting_room
{
public:
    // `last_look_patience`: how long a wait whose time is over waits for its last look; a call to
    // the inbox service ends before.
    waiting_room(runtime::host& host, wait_sources sources, wait_bounds bounds,
                 std::chrono::milliseconds last_look_patience = std::chrono::seconds(7));
    waiting_room(const waiting_room&) = delete;

    // Spawns the looks of each second.
    void start();
    awaitable<void> stop();

    // Ends with the email, with the time, or with the room; and when the client hangs up. Fails
    // with what the first look answered: not_found, or unavailable; with unavailable when the room
    // is full, and with rate_limited past the account's share.
    awaitable<result<wait_answer>> wait(wait_wish wish, std::chrono::milliseconds patience,
                                        http::request& received);

    // email.received and inbox.expired.
    void take_events(const std::vector<kafka::record>& batch);

    // From now on every wait is interrupted as soon as it was looked for once.
    void interrupt();

    std::size_t waiters() const { return waiters_; }
    std::size_t inboxes() const { return watches_.size(); }

private:
    using clock = inbox_watch::clock;
    class place;
    // Of an account, by the way they came.
    struct waits_of_account
    {
        std::size_t by_key = 0;
        std::size_t by_session = 0;
    };

    std::optional<failure> refuse(const wait_wish& wish) const;
    std::size_t& count_of(const wait_wish& wish);
    std::shared_ptr<inbox_watch> find_watch(account_id account, inbox_id inbox);
    void leave(const std::shared_ptr<inbox_watch>& watch, const std::shared_ptr<waiter>& gone);
    void take_event(const kafka::record& event);
    awaitable<std::chrono::microseconds> look_at_all();
    awaitable<bool> look_at(std::vector<std::shared_ptr<inbox_watch>> part);

    runtime::host& host_;
    wait_sources sources_;
    wait_bounds bounds_;
    std::chrono::milliseconds last_look_patience_;
    std::size_t waiters_ = 0;
    std::unordered_map<account_id, waits_of_account> by_account_; // of those who wait
    bool is_ending_ = false;
    // One for each account that asks, since only the look knows whose the inbox is.
    std::unordered_multimap<inbox_id, std::shared_ptr<inbox_watch>> watches_;
    prometheus::Gauge& waiting_;
    // Requests of a process that ends may outlive the room: they find it gone.
    std::shared_ptr<const bool> presence_ = std::make_shared<const bool>(true);
    runtime::periodic_task looks_;
};

} // namespace tempinbox::gateway
