#include "common/postgres/partition_states.hpp"

namespace tempinbox::postgres {
namespace {

// $1: the table, $2: day or hour, $3: how a partition's name ends.
constexpr const char* find_seconds_ahead = R"(
    WITH partitions AS (
        SELECT c.relname::text AS name
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = $1::regclass)
    SELECT coalesce(extract(epoch FROM min(start) - (now() AT TIME ZONE 'UTC')), 0)::float8
    FROM generate_series(date_trunc($2, now() AT TIME ZONE 'UTC'),
                         date_trunc($2, now() AT TIME ZONE 'UTC') + interval '60 days',
                         ('1 ' || $2)::interval) AS start
    WHERE NOT EXISTS (
        SELECT FROM partitions
        WHERE name = split_part($1, '.', 2) || '_' || to_char(start, $3)))";

} // namespace

partition_state read_partition_state(pqxx::work& tx, const partitioned_table& table)
{
    partition_state found;
    found.table = std::string(table.schema) + "." + table.name;
    found.default_rows = tx.exec1("SELECT count(*) FROM (SELECT FROM " + found.table +
                                  "_default LIMIT 10000) AS some")[0]
                             .as<std::int64_t>();
    const auto rows =
        tx.exec_params(find_seconds_ahead, found.table, table.by_hour ? "hour" : "day",
                       table.by_hour ? "YYYYMMDD_HH24" : "YYYYMMDD");
    // A period that has begun without a partition is late by nothing: ahead is never negative.
    found.seconds_ahead = std::max(0.0, rows[0][0].as<double>());
    return found;
}

void show_partitions(metrics::registry& metrics, const std::vector<partition_state>& states)
{
    for (const auto& each : states) {
        const metrics::labels table{{"table", each.table}};
        metrics
            .gauge("tempinbox_default_partition_rows",
                   "Rows whose own partition was not there in time, counted up to 10000; of the "
                   "whole schema",
                   table)
            .Set(static_cast<double>(each.default_rows));
        metrics
            .gauge("tempinbox_partitions_ahead_seconds",
                   "From now to the first time without a partition; of the whole schema", table)
            .Set(each.seconds_ahead);
    }
}

} // namespace tempinbox::postgres
