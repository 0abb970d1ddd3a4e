#pragma once

#include <string>

namespace tempinbox::metrics {

// The process_* family of Prometheus client libraries, read from /proc; empty where that cannot be
// read.
std::string process_metrics_text();

} // namespace tempinbox::metrics
