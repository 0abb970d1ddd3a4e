#pragma once

#include "common/metrics/registry.hpp"

#include <string>

namespace tempinbox::metrics {

// Whether the files of a setting are in use as they are; for everything that reads files again.
prometheus::Gauge& files_current(registry& metrics, const std::string& setting);

} // namespace tempinbox::metrics
