#pragma once

#include "common/metrics/registry.hpp"

#include <string>

namespace tempinbox::async {

// What metrics say of one background task. Thread-safe; cheap to call.
class task_metrics
{
public:
    // `task`: what it does, in snake case. Two parts of a process may share a name.
    task_metrics(metrics::registry& metrics, const std::string& task);

    void succeeded();
    void failed() { failures_.Increment(); }

private:
    prometheus::Counter& failures_;
    prometheus::Gauge& last_success_; // 0 until the first
};

} // namespace tempinbox::async
