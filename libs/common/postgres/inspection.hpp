#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What an operator's check wants to know of a server, whoever owns the schemas. Reads catalogs and
// the default partitions only. Throws as every use of the pool does.
namespace tempinbox::postgres {

// A table that is partitioned by time: by timestamps, or by UUIDv7 ids.
struct partitioned_table
{
    // The rows that a partition takes: from `from`, before `to`.
    struct range
    {
        time_point from;
        time_point to;
    };

    static constexpr std::int64_t max_counted = 10'000;

    std::string name;              // with its schema
    std::vector<range> partitions; // in order; without those that have no end
    std::int64_t default_rows = 0; // in the default partition; counted up to max_counted
};

// Until when rows have partitions without a gap, from `now` on; `now` if there is none for it.
time_point covered_until(const partitioned_table& table, time_point now);

// By name.
awaitable<std::vector<partitioned_table>> read_partitioned_tables(pool& db,
                                                                  std::vector<std::string> schemas);

// Connections against one of the limits that there are.
struct connection_limit
{
    std::string of;         // "server", "role NAME", "database NAME"
    std::int64_t limit = 0; // for ordinary users
    std::int64_t used = 0;
};

// The server's limit first; those of the role and the database only if they are set.
awaitable<std::vector<connection_limit>> read_connection_limits(pool& db);

// Settings that decide whether what was committed outlives a crash; true: safe.
struct durability
{
    bool fsync = true;
    bool full_page_writes = true;
    bool synchronous_commit = true; // of this role in this database
};

awaitable<durability> read_durability(pool& db);

} // namespace tempinbox::postgres
