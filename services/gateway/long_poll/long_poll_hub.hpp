#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "common/kafka/message.hpp"
#include "common/runtime/host.hpp"
#include "gateway/long_poll/inbox_poller.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// How many long polls may wait at once: in all, and per account so that one leaves room for others.
struct long_poll_limits
{
    std::size_t in_all = 0;
    std::size_t of_account = 0;
    std::size_t for_each_of_burst = 10; // times the plan's burst, if it has one
    std::size_t of_sessions = 8;        // of an account, made through its sessions

    explicit long_poll_limits(std::size_t max_waiting)
        : in_all(max_waiting),
          of_account(max_waiting)
    {}
};

// All long polls of this process, grouped by inbox. Events from the topics trigger polls. In
// addition the last sequence of every inbox is requested once a second, hundreds in one call, so a
// lost event costs a second and nothing else. Bounded; runs on the loop.
class long_poll_hub
{
public:
    // `final_poll_timeout`: how long a request whose time is over waits for its last poll. A call
    // to the inbox service has a shorter deadline.
    long_poll_hub(runtime::host& host, inbox_client& inboxes, response_budget& memory,
                  long_poll_limits bounds,
                  std::chrono::milliseconds final_poll_timeout = std::chrono::seconds(7));
    long_poll_hub(const long_poll_hub&) = delete;

    // Starts the polls of each second.
    void start();
    awaitable<void> stop();

    // Ends with the matched email, at the timeout, with the inbox, when the hub drains, or when the
    // client hangs up. Fails with the error of the first poll (not_found or unavailable) or of the
    // last, with unavailable when the hub is full, and with rate_limited past the account's share.
    awaitable<result<long_poll_result>>
    wait(long_poll_request request, std::chrono::milliseconds timeout, http::request& received);

    // inbox.activity and inbox.expired.
    void take_events(const std::vector<kafka::record>& batch);

    // From now on every wait ends as draining, as soon as it was polled for once.
    void interrupt();

    // A place among the waiting requests, for one that waits for something else; given back with
    // the pointer. Refused as a wait is.
    result<std::shared_ptr<const void>> take_slot(account_id account, int burst_per_second);

    std::size_t waiters() const { return waiters_; }
    std::size_t inboxes() const { return pollers_.size(); }

private:
    using clock = inbox_poller::clock;
    class counted_wait;
    class slot;
    // Long polls of an account, by how they authenticated.
    struct waits_of_account
    {
        std::size_t by_key = 0;
        std::size_t by_session = 0;
    };

    std::optional<failure> refuse(account_id account, int burst_per_second,
                                  bool is_of_session) const;
    std::size_t& count_of(account_id account, bool is_of_session);
    std::shared_ptr<inbox_poller> find_poller(account_id account, inbox_id inbox);
    void give_back(account_id account, bool is_of_session);
    void leave(const std::shared_ptr<inbox_poller>& poller,
               const std::shared_ptr<poll_waiter>& gone);
    void take_event(const kafka::record& event);
    awaitable<std::chrono::microseconds> poll_all();
    awaitable<bool> poll_part(std::vector<std::shared_ptr<inbox_poller>> part);

    runtime::host& host_;
    inbox_client& inboxes_;
    response_budget& memory_;
    long_poll_limits bounds_;
    std::chrono::milliseconds final_poll_timeout_;
    std::size_t waiters_ = 0;
    std::unordered_map<account_id, waits_of_account> by_account_; // only accounts with waiters
    bool is_ending_ = false;
    // One poller per account and inbox: only the poll can tell whether the inbox is the account's.
    std::unordered_multimap<inbox_id, std::shared_ptr<inbox_poller>> pollers_;
    prometheus::Gauge& waiting_requests_;
    // During shutdown a request may outlive this object: it sees that this pointer has expired.
    std::shared_ptr<const bool> presence_ = std::make_shared<const bool>(true);
    async::periodic_task poll_task_;
};

} // namespace tempinbox::gateway
