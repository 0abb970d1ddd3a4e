#include "common/postgres/inspection.hpp"

#include "common/core/text.hpp"
#include "common/postgres/column.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::postgres {
namespace {

// The bounds of a partition as microseconds: of a UUIDv7 the first 48 bits are milliseconds (RFC
// 9562 5.7). The default partition has none, one without end no upper one.
constexpr const char* find_partitions = R"(
WITH parts AS (
    SELECT n.nspname || '.' || p.relname AS parent, c.oid::regclass::text AS part,
           pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_inherits i
    JOIN pg_class p ON p.oid = i.inhparent AND p.relkind = 'p'
    JOIN pg_namespace n ON n.oid = p.relnamespace
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE n.nspname = ANY (string_to_array($1, ','))
), bounds AS (
    SELECT parent, part, bound = 'DEFAULT' AS is_default,
           substring(bound FROM 'FROM \(''([^'']+)''\)') AS low,
           substring(bound FROM 'TO \(''([^'']+)''\)') AS high
    FROM parts
)
SELECT parent, part, is_default,
       CASE WHEN low ~ '^[0-9a-f]{8}-[0-9a-f]{4}-'
            THEN ('x0000' || replace(left(low, 13), '-', ''))::bit(64)::bigint * 1000
            ELSE (extract(epoch FROM low::timestamptz) * 1000000)::bigint END AS from_micros,
       CASE WHEN high ~ '^[0-9a-f]{8}-[0-9a-f]{4}-'
            THEN ('x0000' || replace(left(high, 13), '-', ''))::bit(64)::bigint * 1000
            ELSE (extract(epoch FROM high::timestamptz) * 1000000)::bigint END AS to_micros
FROM bounds ORDER BY parent, from_micros)";

// Sessions of others hide most of themselves from an ordinary role, though not whose they are.
constexpr const char* find_limits = R"(
WITH sessions AS (
    SELECT usename, datname FROM pg_stat_activity
    WHERE usesysid IS NOT NULL AND datid IS NOT NULL
      AND backend_type IS DISTINCT FROM 'parallel worker'
)
SELECT current_setting('max_connections')::bigint
           - current_setting('superuser_reserved_connections')::bigint
           - coalesce(current_setting('reserved_connections', true), '0')::bigint AS server_limit,
       (SELECT count(*) FROM sessions) AS server_used,
       current_user AS role,
       (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role_limit,
       (SELECT count(*) FROM sessions WHERE usename = current_user) AS role_used,
       current_database() AS database,
       (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database_limit,
       (SELECT count(*) FROM sessions WHERE datname = current_database()) AS database_used)";

constexpr const char* find_durability = R"(
SELECT current_setting('fsync')::boolean AS fsync,
       current_setting('full_page_writes')::boolean AS full_page_writes,
       current_setting('synchronous_commit') <> 'off' AS synchronous_commit)";

std::int64_t count_rows(pqxx::work& tx, const std::string& table)
{
    const auto row = tx.exec1("SELECT count(*) AS count FROM (SELECT 1 FROM " + table + " LIMIT " +
                              std::to_string(partitioned_table::max_counted) + ") AS few");
    return column<std::int64_t>(row, "count");
}

std::vector<partitioned_table> read_tables(pqxx::work& tx, const std::string& schemas)
{
    std::vector<partitioned_table> tables;
    for (const auto row : tx.exec_params(find_partitions, schemas)) {
        const auto name = column<std::string>(row, "parent");
        if (tables.empty() || tables.back().name != name)
            tables.emplace_back().name = name;
        const auto from = column<std::optional<time_point>>(row, "from_micros"),
                   to = column<std::optional<time_point>>(row, "to_micros");
        if (column<bool>(row, "is_default"))
            tables.back().default_rows = count_rows(tx, column<std::string>(row, "part"));
        else if (from && to)
            tables.back().partitions.emplace_back(*from, *to);
    }
    return tables;
}

std::vector<connection_limit> read_limits(pqxx::work& tx)
{
    const auto row = tx.exec1(find_limits);
    std::vector<connection_limit> limits;
    const auto number = [&row](const char* name) { return column<std::int64_t>(row, name); };
    limits.emplace_back("server", number("server_limit"), number("server_used"));
    // -1: not limited.
    if (number("role_limit") >= 0)
        limits.emplace_back("role " + column<std::string>(row, "role"), number("role_limit"),
                            number("role_used"));
    if (number("database_limit") >= 0)
        limits.emplace_back("database " + column<std::string>(row, "database"),
                            number("database_limit"), number("database_used"));
    return limits;
}

} // namespace

time_point covered_until(const partitioned_table& table, time_point now)
{
    auto end = now;
    for (const auto& part : table.partitions)
        if (part.from <= end && end < part.to)
            end = part.to;
    return end;
}

awaitable<std::vector<partitioned_table>> read_partitioned_tables(pool& db,
                                                                  std::vector<std::string> schemas)
{
    std::string list;
    for (const auto& schema : schemas)
        list += (list.empty() ? "" : ",") + schema;
    return db.transact([list](pqxx::work& tx) { return read_tables(tx, list); });
}

awaitable<std::vector<connection_limit>> read_connection_limits(pool& db)
{
    return db.transact([](pqxx::work& tx) { return read_limits(tx); });
}

awaitable<durability> read_durability(pool& db)
{
    return db.transact([](pqxx::work& tx) {
        const auto row = tx.exec1(find_durability);
        return durability(column<bool>(row, "fsync"), column<bool>(row, "full_page_writes"),
                          column<bool>(row, "synchronous_commit"));
    });
}

} // namespace tempinbox::postgres
