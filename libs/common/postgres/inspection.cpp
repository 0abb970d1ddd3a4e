#include "common/postgres/inspection.hpp"

#include "common/core/text.hpp"

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
            ELSE (extract(epoch FROM low::timestamptz) * 1000000)::bigint END,
       CASE WHEN high ~ '^[0-9a-f]{8}-[0-9a-f]{4}-'
            THEN ('x0000' || replace(left(high, 13), '-', ''))::bit(64)::bigint * 1000
            ELSE (extract(epoch FROM high::timestamptz) * 1000000)::bigint END
FROM bounds ORDER BY parent, 4)";

// Sessions of others hide most of themselves from an ordinary role, though not whose they are.
constexpr const char* find_limits = R"(
WITH sessions AS (
    SELECT usename, datname FROM pg_stat_activity
    WHERE usesysid IS NOT NULL AND datid IS NOT NULL
      AND backend_type IS DISTINCT FROM 'parallel worker'
)
SELECT current_setting('max_connections')::bigint
           - current_setting('superuser_reserved_connections')::bigint
           - coalesce(current_setting('reserved_connections', true), '0')::bigint,
       (SELECT count(*) FROM sessions),
       current_user,
       (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),
       (SELECT count(*) FROM sessions WHERE usename = current_user),
       current_database(),
       (SELECT datconnlimit FROM pg_database WHERE datname = current_database()),
       (SELECT count(*) FROM sessions WHERE datname = current_database()))";

constexpr const char* find_durability = R"(
SELECT current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean,
       current_setting('synchronous_commit') <> 'off')";

std::int64_t count_rows(pqxx::work& tx, const std::string& table)
{
    const auto row = tx.exec1("SELECT count(*) FROM (SELECT 1 FROM " + table + " LIMIT " +
                              std::to_string(partitioned_table::max_counted) + ") AS few");
    return row[0].as<std::int64_t>();
}

std::vector<partitioned_table> read_tables(pqxx::work& tx, const std::string& schemas)
{
    std::vector<partitioned_table> found;
    for (const auto row : tx.exec_params(find_partitions, schemas)) {
        const auto name = row[0].as<std::string>();
        if (found.empty() || found.back().name != name)
            found.emplace_back().name = name;
        if (row[2].as<bool>())
            found.back().default_rows = count_rows(tx, row[1].as<std::string>());
        else if (!row[3].is_null() && !row[4].is_null())
            found.back().partitions.emplace_back(from_unix_micros(row[3].as<std::int64_t>()),
                                                 from_unix_micros(row[4].as<std::int64_t>()));
    }
    return found;
}

std::vector<connection_limit> read_limits(pqxx::work& tx)
{
    const auto row = tx.exec1(find_limits);
    std::vector<connection_limit> limits;
    limits.emplace_back("server", row[0].as<std::int64_t>(), row[1].as<std::int64_t>());
    // -1: not limited.
    if (row[3].as<std::int64_t>() >= 0)
        limits.emplace_back("role " + row[2].as<std::string>(), row[3].as<std::int64_t>(),
                            row[4].as<std::int64_t>());
    if (row[6].as<std::int64_t>() >= 0)
        limits.emplace_back("database " + row[5].as<std::string>(), row[6].as<std::int64_t>(),
                            row[7].as<std::int64_t>());
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
        return durability(row[0].as<bool>(), row[1].as<bool>(), row[2].as<bool>());
    });
}

} // namespace tempinbox::postgres
