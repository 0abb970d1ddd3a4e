#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "common/kafka/message.hpp"
#include "common/runtime/host.hpp"
#include "common/runtime/periodic_task.hpp"
#include "gateway/long_poll/inbox_poller.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// How many requests may wait at once: in all, and so that one account leaves room for the others.
struct long_poll_limits
{
    std::size_t in_all = 0;
    std::size_t of_account = 0;
    std::size_t for_each_of_burst = 10; // times the burst of the account's plan, where it has one
    std::size_t of_sessions = 8;        // of an account, through its sessions

    explicit long_poll_limits(std::size_t most) : in_all(most), of_account(most) {}
};

// Every request of this process that waits for mail, by inbox. Woken by the events of the topics;
// once a second all inboxes are looked at besides, hundreds in one call, so that lost events cost a
// second and nothing else. Bounded; runs on the loop.
class long_poll_hub
{
public:
    // `final_poll_timeout`: how long a wait whose time is over waits for its last look; a call to
    // the inbox service ends before.
    long_poll_hub(runtime::host& host, poll_sources sources, long_poll_limits bounds,
                  std::chrono::milliseconds final_poll_timeout = std::chrono::seconds(7));
    long_poll_hub(const long_poll_hub&) = delete;

    // Spawns the looks of each second.
    void start();
    awaitable<void> stop();

    // Ends with the email, with the time, or with the room; and when the client hangs up. Fails
    // with what the first look answered: not_found, or unavailable; with unavailable when the room
    // is full, and with rate_limited past the account's share.
    awaitable<result<long_poll_result>>
    wait(long_poll_request request, std::chrono::milliseconds timeout, http::request& received);

    // email.received and inbox.expired.
    void take_events(const std::vector<kafka::record>& batch);

    // From now on every wait is interrupted as soon as it was looked for once.
    void interrupt();

    std::size_t waiters() const { return waiters_; }
    std::size_t inboxes() const { return pollers_.size(); }

private:
    using clock = inbox_poller::clock;
    class slot;
    // Of an account, by the way they came.
    struct waits_of_account
    {
        std::size_t by_key = 0;
        std::size_t by_session = 0;
    };

    std::optional<failure> refuse(const long_poll_request& request) const;
    std::size_t& count_of(const long_poll_request& request);
    std::shared_ptr<inbox_poller> find_poller(account_id account, inbox_id inbox);
    void leave(const std::shared_ptr<inbox_poller>& poller,
               const std::shared_ptr<poll_waiter>& gone);
    void take_event(const kafka::record& event);
    awaitable<std::chrono::microseconds> poll_all();
    awaitable<bool> poll_part(std::vector<std::shared_ptr<inbox_poller>> part);

    runtime::host& host_;
    poll_sources sources_;
    long_poll_limits bounds_;
    std::chrono::milliseconds final_poll_timeout_;
    std::size_t waiters_ = 0;
    std::unordered_map<account_id, waits_of_account> by_account_; // of those who wait
    bool is_ending_ = false;
    // One for each account that asks, since only the look knows whose the inbox is.
    std::unordered_multimap<inbox_id, std::shared_ptr<inbox_poller>> pollers_;
    prometheus::Gauge& waiting_requests_;
    // Requests of a process that ends may outlive the room: they find it gone.
    std::shared_ptr<const bool> presence_ = std::make_shared<const bool>(true);
    runtime::periodic_task poll_task_;
};

} // namespace tempinbox::gateway
