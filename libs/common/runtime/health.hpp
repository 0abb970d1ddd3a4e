#pragma once

#include "common/metrics/registry.hpp"

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace tempinbox::runtime {

// What readiness depends on (docs/architecture.md, "What always holds", 12). Ready once every
// expected condition has been met at least once, until SIGTERM; a dependency lost later only shows
// as degraded. Logs each change once, and shows it in metrics. Thread-safe.
class health
{
public:
    explicit health(metrics::registry& metrics);

    // Before the service starts: "postgresql", "kafka", "schema", "listeners".
    void expect(const std::string& condition);
    void met(const std::string& condition);
    // For a condition that was met before: degraded, with the reason in /readyz.
    void lost(const std::string& condition, std::string_view reason);
    void start_draining();

    bool is_ready() const;
    // {"ready":true,"degraded":["kafka"],"waiting":{},"reasons":{"kafka":"all brokers are down"}};
    // `waiting` names what was never met and why.
    std::string json() const;

private:
    struct condition_state
    {
        bool was_met = false;
        bool is_lost = true;
        std::string reason;
        prometheus::Gauge* is_up = nullptr;
    };

    condition_state& state_of(const std::string& condition); // call it under the mutex
    void show_readiness();

    metrics::registry& metrics_;
    prometheus::Gauge& ready_;
    mutable std::mutex mutex_;
    std::map<std::string, condition_state> conditions_;
    bool is_draining_ = false;
};

} // namespace tempinbox::runtime
