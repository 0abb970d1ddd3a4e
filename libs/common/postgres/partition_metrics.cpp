#include "common/postgres/partition_metrics.hpp"

namespace tempinbox::postgres {

void show_partitions(metrics::registry& metrics, const std::vector<partitioned_table>& tables,
                     time_point now)
{
    for (const auto& each : tables) {
        const metrics::labels labels{{"table", each.name}};
        metrics
            .gauge("tempinbox_default_partition_rows",
                   "Rows whose own partition was not there in time, counted up to 10000; of the "
                   "whole schema",
                   labels)
            .Set(static_cast<double>(each.default_rows));
        const std::chrono::duration<double> ahead = covered_until(each, now) - now;
        metrics
            .gauge("tempinbox_partitions_ahead_seconds",
                   "From now to the first time without a partition; of the whole schema", labels)
            .Set(ahead.count());
    }
}

} // namespace tempinbox::postgres
