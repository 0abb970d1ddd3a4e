#include "common/async/task_metrics.hpp"

#include "common/core/time.hpp"

#include <chrono>

namespace tempinbox::async {

task_metrics::task_metrics(metrics::registry& metrics, const std::string& task)
    : failures_(metrics.counter("tempinbox_task_failures_total", "Failed steps of background tasks",
                                {{"task", task}})),
      last_success_(metrics.gauge("tempinbox_task_last_success_timestamp_seconds",
                                  "Unix time at which a step of the task last succeeded; 0: never",
                                  {{"task", task}}))
{}

void task_metrics::succeeded()
{
    const auto now = system_clock_source().now().time_since_epoch();
    last_success_.Set(std::chrono::duration<double>(now).count());
}

} // namespace tempinbox::async
