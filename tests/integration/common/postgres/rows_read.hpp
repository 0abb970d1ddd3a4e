#pragma once

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <cstdint>
#include <string>

namespace tempinbox::testing {

// One connection, so that every call uses the same cached plans and its reads are counted.
inline postgres::settings one_connection(const scratch_database& scratch)
{
    postgres::settings chosen;
    chosen.dsn = scratch.dsn();
    chosen.connections = 1;
    return chosen;
}

// The index entries and rows read so far by the pool's one connection, of the tables whose names
// match the regular expression.
inline std::int64_t rows_read(postgres::pool& db, scratch_database& scratch,
                              const std::string& tables)
{
    await(db.run([](pqxx::connection& connection) {
        pqxx::nontransaction(connection).exec("SELECT pg_stat_force_next_flush()");
    }));
    return scratch
        .execute("SELECT coalesce((SELECT sum(idx_tup_read) FROM pg_stat_user_indexes "
                 "WHERE relname ~ '" +
                 tables +
                 "'), 0) + coalesce((SELECT sum(seq_tup_read) FROM pg_stat_user_tables "
                 "WHERE relname ~ '" +
                 tables + "'), 0)")[0][0]
        .as<std::int64_t>();
}

} // namespace tempinbox::testing
