#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/delivery.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "common/async/periodic_task.hpp"

#include <unordered_map>

namespace tempinbox::webhooks {

// Switches off webhooks that only failed for five days. Counts failed attempts in memory, adds them
// every ten seconds to the database, which sums the counts of all processes, and decides there. A
// crash, or the database being away, loses a few seconds of counts. Used on the loop only.
class auto_disable_monitor
{
public:
    auto_disable_monitor(runtime::host& host, endpoint_repository& endpoints);

    void note(const delivery_outcome& outcome);
    void start() { checking_.start(); }
    awaitable<void> stop() { return checking_.stop(); }

    // Adds what was noted, then decides.
    awaitable<void> check();

private:
    awaitable<std::chrono::microseconds> check_again();
    std::vector<failure_count> take_counts();

    endpoint_repository& endpoints_;
    std::unordered_map<webhook_id, failure_count> noted_;
    async::periodic_task checking_;
};

} // namespace tempinbox::webhooks
