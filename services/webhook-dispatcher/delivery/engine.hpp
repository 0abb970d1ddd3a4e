#pragma once

#include "common/async/reset_event.hpp"
#include "common/async/wait_group.hpp"
#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/circuit_breaker.hpp"
#include "webhook-dispatcher/delivery/outcome.hpp"
#include "webhook-dispatcher/delivery/window.hpp"
#include "webhook-dispatcher/storage/delivery.hpp"

#include "common/runtime/host.hpp"

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tempinbox::webhooks {

// Sends a delivery to its receiver by HTTP; never throws because of the network. A function, since
// tests of the engine replace the sender.
using request_sender = std::function<awaitable<sent_request>(delivery_job)>;

// Limits of one process.
struct engine_limits
{
    std::size_t held = 10'000;              // deliveries in memory
    std::size_t in_flight = 2'000;          // requests at a time
    std::size_t in_flight_of_account = 250; // so that no account can take all of them
};

// Holds leased deliveries and sends them. Each endpoint has its window, its circuit breaker and
// separate slots for retries, so that an endpoint that hangs slows no other. At a limit on requests
// endpoints take turns, one request each; a delivery that waits too long for its turn is given back
// before its lease ends. Outcomes go to `on_outcome`. Used on the loop only.
class delivery_engine
{
public:
    using outcome_handler = std::function<void(delivery_outcome)>;

    delivery_engine(runtime::host& host, request_sender send, outcome_handler on_outcome,
                    engine_limits limits = {});
    ~delivery_engine();
    delivery_engine(const delivery_engine&) = delete;

    // Reserves capacity for a delivery that is about to be stored under our lease; false: store it
    // unleased.
    bool reserve(webhook_id webhook, queue_kind queue);
    void release(webhook_id webhook, queue_kind queue);
    // How long nothing is sent to the endpoint; zero while its breaker is closed.
    std::chrono::milliseconds closed_for(webhook_id webhook) const;
    // If the endpoint was switched on or given another URL since the last noted renewal, it is
    // probed at once, however long its breaker is open.
    void note_renewal(webhook_id webhook, time_point renewed_at);
    // Whether any breaker is open, so that renewals are worth reading.
    bool has_open_breakers() const;
    // Endpoints whose breaker opened and is not closed yet.
    std::vector<webhook_id> tripped() const;
    // To be called when nothing is sent to the endpoint any more: its breaker delays nothing, and
    // whole windows are claimed.
    void reset_breaker(webhook_id webhook);
    // The delivery must be reserved and stored under our lease.
    void submit(delivery_job job);

    // Deliveries of the queue wait in the database: `take_claim_requests` requests them as slots
    // become free.
    void note_backlog(due_queue queue);
    // One request for each queue with backlog and free capacity, which is reserved. Return what
    // stays unused by `release`.
    std::vector<claim_request> take_claim_requests();
    // To be called if a claim found less than requested: the backlog is gone, unless it was noted
    // again since.
    void clear_backlog(const claim_request& request);
    // The handler is called when there may be new claim requests.
    void on_claim_request(std::function<void()> handler) { claim_handler_ = std::move(handler); }

    std::size_t held() const { return held_; }
    std::size_t in_flight() const { return in_flight_.count(); }
    // Returns once less than the limit is held.
    awaitable<void> wait_for_room();
    // Evicts endpoints that hold nothing, have no backlog and a clean breaker.
    void evict_idle();

    // Sends nothing new, gives back what waits, and finishes requests in flight within `timeout`.
    awaitable<void> drain(std::chrono::milliseconds timeout);

private:
    // The state of one endpoint, an entry of endpoints_.
    struct endpoint_state
    {
        std::deque<delivery_job>& waiting_of(queue_kind queue)
        {
            return waiting[static_cast<std::size_t>(queue)];
        }
        bool has_waiting() const { return !waiting[0].empty() || !waiting[1].empty(); }
        std::uint64_t& backlog_of(queue_kind queue)
        {
            return backlog[static_cast<std::size_t>(queue)];
        }

        webhook_id id;
        time_point renewed_at; // the last noted renewal
        endpoint_window window;
        circuit_breaker health;
        std::array<std::deque<delivery_job>, 2> waiting;
        std::array<std::uint64_t, 2>
            backlog{};           // 0: none; else backlogs_noted_ when it was last noted
        bool is_starved = false; // is in starved_
    };

    endpoint_state& state_of(webhook_id webhook);
    std::size_t capacity(const endpoint_state& endpoint, queue_kind queue) const;
    bool has_room_for(account_id account) const;
    void pump(endpoint_state& endpoint);
    bool send_one(endpoint_state& endpoint);
    bool send_one(endpoint_state& endpoint, queue_kind kind);
    void give_back(endpoint_state& endpoint, const delivery_job& job,
                   std::chrono::milliseconds wait);
    awaitable<void> deliver(endpoint_state& endpoint, delivery_job job,
                            circuit_breaker::permit permit);
    void finish(endpoint_state& endpoint, const delivery_job& job, circuit_breaker::permit permit,
                sent_request sent);
    void starve(endpoint_state& endpoint);
    void resume_starved();
    void watch_leases();
    void give_back_late(endpoint_state& endpoint);
    void notify_capacity(const endpoint_state& endpoint);

    runtime::host& host_;
    request_sender send_;
    outcome_handler on_outcome_;
    engine_limits limits_;
    std::function<void()> claim_handler_;
    std::unordered_map<webhook_id, std::unique_ptr<endpoint_state>> endpoints_;
    std::vector<due_queue> backlogs_;
    std::uint64_t backlogs_noted_ = 0;
    std::deque<webhook_id>
        starved_; // stopped by a limit on requests, each once; the first has its turn next
    std::shared_ptr<boost::asio::steady_timer> lease_watch_;
    bool is_watching_leases_ = false;
    std::size_t held_ = 0;
    async::wait_group in_flight_;                              // requests
    std::unordered_map<account_id, std::size_t> in_flight_of_; // accounts with requests in flight
    bool is_draining_ = false;
    async::reset_event has_room_;
};

} // namespace tempinbox::webhooks
