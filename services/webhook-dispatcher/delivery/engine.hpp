#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/circuit_breaker.hpp"
#include "webhook-dispatcher/delivery/delivery_store.hpp"
#include "webhook-dispatcher/delivery/outcome.hpp"
#include "webhook-dispatcher/delivery/wakeup.hpp"
#include "webhook-dispatcher/delivery/window.hpp"

#include "common/runtime/host.hpp"

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tempinbox::webhooks {

// Carries a delivery to its receiver; never throws for what the network does.
using request_sender = std::function<awaitable<sent_request>(delivery_job)>;

// How much a process holds.
struct engine_limits
{
    std::size_t held = 10'000;              // deliveries in memory
    std::size_t in_flight = 2'000;          // requests at a time
    std::size_t in_flight_of_account = 250; // so that no account can take them all
};

// Holds leased deliveries and sends them: each endpoint has its window, its breaker and separate
// slots for retries, so that one that hangs slows nobody else. At a limit on requests endpoints
// take turns, one request each, and what waits too long for its turn is given back before its lease
// ends. Outcomes go to `on_outcome`. Used on the loop only.
class delivery_engine
{
public:
    using outcome_handler = std::function<void(delivery_outcome)>;

    delivery_engine(runtime::host& host, request_sender send, outcome_handler on_outcome,
                    engine_limits limits = {});
    ~delivery_engine();
    delivery_engine(const delivery_engine&) = delete;

    // A place for a delivery that is about to be stored under our lease; false: store it unleased.
    bool reserve(webhook_id webhook, queue_kind queue);
    void release(webhook_id webhook, queue_kind queue);
    // How long nothing is sent to the endpoint; zero while its breaker is closed.
    std::chrono::milliseconds closed_for(webhook_id webhook) const;
    // An endpoint that was switched on or given another URL since it was noted last is probed at
    // once, however long its breaker is open.
    void note_renewal(webhook_id webhook, time_point renewed_at);
    // Whether a breaker is open, so that it is worth looking for renewals.
    bool has_open_breakers() const;
    // Endpoints whose breaker opened and is not closed yet.
    std::vector<webhook_id> tripped() const;
    // Nothing is sent to the endpoint any more: its breaker holds up nothing, and whole windows are
    // taken.
    void reset_breaker(webhook_id webhook);
    // A reserved one, now stored under our lease.
    void submit(delivery_job job);

    // Deliveries of the lane wait in the database: `take_claim_requests` asks for them as places
    // become free.
    void note_backlog(due_queue queue);
    // For each lane with backlog and free places: the places, reserved. Return those that stay
    // empty by `release`.
    std::vector<claim_request> take_claim_requests();
    // A wish found less than it asked for: the backlog is gone, unless it was noted again since.
    void clear_backlog(const claim_request& request);
    // Called when there may be new wishes.
    void on_claim_request(std::function<void()> handler) { claim_handler_ = std::move(handler); }

    std::size_t held() const { return held_; }
    std::size_t in_flight() const { return in_flight_; }
    // Returns while less than the limit is held.
    awaitable<void> wait_for_room();
    // Endpoints of which nothing is known that matters.
    void evict_idle();

    // Sends nothing new, gives back what waits, finishes what is under way within that time.
    awaitable<void> drain(std::chrono::milliseconds timeout);

private:
    // What is known of one endpoint: an entry of the map below.
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
        time_point renewed_at; // as far as it was noted
        endpoint_window window;
        circuit_breaker health;
        std::array<std::deque<delivery_job>, 2> waiting;
        std::array<std::uint64_t, 2>
            backlog{};           // 0: none; else how often it was noted by then, over all endpoints
        bool is_starved = false; // stands in starved_
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
    boost::asio::steady_timer lease_watch_;
    bool is_watching_leases_ = false;
    std::size_t held_ = 0;
    std::size_t in_flight_ = 0;
    std::unordered_map<account_id, std::size_t> in_flight_of_; // accounts with requests under way
    bool is_draining_ = false;
    wakeup has_room_;
    wakeup is_quiet_;
};

} // namespace tempinbox::webhooks
