#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/time.hpp"
#include "common/metrics/registry.hpp"
#include "common/runtime/file_watch.hpp"
#include "common/runtime/health.hpp"
#include "common/trace/tracer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace tempinbox::runtime {

// The settings every service has.
struct process_settings
{
    std::string log_level = "info";
    std::string audit_log = "sampled";
    std::string access_log = "none";
    host_port admin_listen{"127.0.0.1", 0};
    std::string admin_token_file; // tokens that allow changes on the operator's port; empty:
                                  // callers on loopback may
    std::chrono::milliseconds drain_timeout{25'000};
    trace::settings trace;
};

// What a process provides to its parts: the event loop, metrics, traces, health, clock, name.
// Outlives the service; owns no policy.
class host
{
public:
    host(std::string name, process_settings chosen);

    const std::string& name() const { return name_; }
    // Random, one per process: the owner of outbox rows and leases.
    const std::string& instance() const { return instance_; }
    const process_settings& settings() const { return settings_; }
    boost::asio::io_context& loop() { return loop_; }
    boost::asio::any_io_executor executor() { return loop_.get_executor(); }
    metrics::registry& metrics() { return metrics_; }
    trace::tracer& tracer() { return tracer_; }
    runtime::health& health() { return health_; }
    // Files of secrets, looked at from the start of the service on.
    file_watch& files() { return files_; }
    const clock_source& clock() const { return clock_; }

private:
    std::string name_;
    std::string instance_;
    process_settings settings_;
    // What the loop still holds when it is destroyed may refer to these.
    metrics::registry metrics_;
    runtime::health health_{metrics_};
    trace::tracer tracer_{settings_.trace, metrics_};
    boost::asio::io_context loop_{1};
    file_watch files_{loop_.get_executor(), metrics_};
    system_clock_source clock_;
};

// A running service. `start` binds listeners, spawns loops and returns; `drain` finishes the work
// in progress and stops everything it started, within the time that `run` gives it. Both run on the
// loop.
class service
{
public:
    virtual ~service() = default;
    virtual void start() = 0;
    virtual awaitable<void> drain() = 0;
};

} // namespace tempinbox::runtime
