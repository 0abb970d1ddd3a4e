#pragma once

#include "common/metrics/registry.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tempinbox::postgres {

// A table with a partition for each day or hour, `<table>_YYYYMMDD` or `<table>_YYYYMMDD_HH24`, and
// a default one, `<table>_default`.
struct partitioned_table
{
    const char* schema;
    const char* name;
    bool by_hour = false;
};

struct partition_state
{
    std::string table; // with its schema
    // Counted up to 10,000: rows whose own partition was not there in time.
    std::int64_t default_rows = 0;
    // From now to the first time without a partition.
    double seconds_ahead = 0;
};

partition_state read_partition_state(pqxx::work& tx, const partitioned_table& table);

// As gauges, by table.
void show_partitions(metrics::registry& metrics, const std::vector<partition_state>& states);

} // namespace tempinbox::postgres
