#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"
#include "webhook-dispatcher/storage/queue_repository.hpp"

#include "common/runtime/host.hpp"

#include <functional>
#include <map>
#include <vector>

namespace tempinbox::webhooks {

// Records outcomes in batches: those that come while a batch is being written form the next one,
// one statement each. While PostgreSQL is away it keeps them and tries again. Switches endpoints
// off if an outcome says so, and tells `on_replayed` which webhooks may get more of their replays:
// an outcome was written of a delivery that a replay had made due. Used on the loop only.
class outcome_recorder
{
public:
    outcome_recorder(runtime::host& host, queue_repository& outcomes,
                     endpoint_repository& endpoints, std::function<void(webhook_key)> on_replayed);

    // Nothing is written before.
    void start() { has_started_.set(); }
    void record(delivery_outcome outcome);
    // Not yet written.
    std::size_t pending() const { return batches_.pending(); }
    // Whether few enough are pending to take up new deliveries.
    bool has_room() const { return pending() < max_pending; }
    // Returns once there is room; throws dependency_error if there is none for 5 s.
    awaitable<void> wait_for_room();
    // Writes what is pending, for `timeout` at most, then stops.
    awaitable<void> drain(std::chrono::milliseconds timeout);

    static constexpr std::size_t max_pending = 5'000;

private:
    awaitable<void> write_all(std::vector<delivery_outcome> batch);
    awaitable<bool> write(const std::vector<delivery_outcome>& batch);
    awaitable<void> write_one_by_one(std::vector<delivery_outcome> batch);
    awaitable<void> disable_endpoints(const std::vector<delivery_outcome>& batch);
    void report_replayed(const std::vector<delivery_outcome>& batch);

    void count(const delivery_outcome& outcome);

    runtime::host& host_;
    queue_repository& outcomes_;
    endpoint_repository& endpoints_;
    std::function<void(webhook_key)> on_replayed_;
    async::reset_event has_started_;
    std::map<std::string_view, prometheus::Counter*> counters_;
    prometheus::Histogram& durations_;
    prometheus::Histogram& email_to_webhook_;
    async::batcher<delivery_outcome, void> batches_;
};

} // namespace tempinbox::webhooks
