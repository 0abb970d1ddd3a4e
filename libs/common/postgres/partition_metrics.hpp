#pragma once

#include "common/core/time.hpp"
#include "common/metrics/registry.hpp"
#include "common/postgres/inspection.hpp"

#include <vector>

namespace tempinbox::postgres {

// Shows, as gauges by table, the rows whose partition was not there in time, and how far ahead of
// `now` partitions are made.
void show_partitions(metrics::registry& metrics, const std::vector<partitioned_table>& tables,
                     time_point now);

} // namespace tempinbox::postgres
