#pragma once

#include "common/async/task_metrics.hpp"
#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/engine.hpp"
#include "webhook-dispatcher/delivery/recorder.hpp"
#include "webhook-dispatcher/routing/config_cache.hpp"

#include <optional>
#include <vector>

namespace tempinbox::webhooks {

// Brings due deliveries from the database to the engine: finds which endpoints have something due,
// claims at most what their windows take, and releases the leases of processes that are gone.
// Sleeps until the next delivery is due, one second at most. Used on the loop only.
class due_claimer
{
public:
    due_claimer(runtime::host& host, queue_repository& deliveries, config_cache& configs,
                delivery_engine& engine, const outcome_recorder& recorder,
                delivery_engine::outcome_handler on_outcome);

    void start();
    awaitable<void> stop();

private:
    using time = std::chrono::steady_clock::time_point;

    awaitable<void> run();
    awaitable<void> step();
    awaitable<void> claim(std::vector<claim_request> requests);
    awaitable<void> measure();
    awaitable<void> note_renewals();
    awaitable<void> find_due();
    void accept(claimed_delivery claimed, const config_cache::configs& configs, uuid lease,
                time lease_end);
    void refuse(const claimed_delivery& claimed, uuid lease, delivery_outcome::state state,
                std::string reason);
    void refuse_all(const claimed_delivery& claimed, uuid lease, delivery_outcome::state state,
                    std::string reason);
    void release_unused(const std::vector<claim_request>& requests,
                        const std::vector<due_queue>& found);
    std::chrono::milliseconds jittered(std::chrono::milliseconds delay);

    runtime::host& host_;
    queue_repository& deliveries_;
    config_cache& configs_;
    delivery_engine& engine_;
    const outcome_recorder& recorder_;
    delivery_engine::outcome_handler on_outcome_;
    async::reset_event claim_requested_;
    async::reset_event has_stopped_;
    std::optional<due_page::position> next_page_from_;
    int pages_of_lap_ = 0;
    time next_find_due_{};
    time next_release_{};
    time next_measure_{};
    std::uint32_t jitter_state_ = 1;
    bool is_stopping_ = false;
    bool is_running_ = false;
    async::task_metrics task_;
    prometheus::Gauge& oldest_due_;
    prometheus::Gauge& held_;
    prometheus::Gauge& tripped_;
};

} // namespace tempinbox::webhooks
