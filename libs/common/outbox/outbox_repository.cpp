#include "common/outbox/outbox_repository.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

#include <tuple>

namespace tempinbox::outbox {
namespace {

using postgres::column;

// Claims by lease, since leases end in the order in which rows were written and the index yields
// them in that order, however many wait; the batch is sorted by (key, sequence) afterwards.
constexpr std::string_view claim_rows = R"(
WITH due AS (SELECT event_id FROM %.outbox WHERE lease_until <= clock_timestamp() ORDER BY lease_until LIMIT $2 FOR UPDATE SKIP LOCKED)
UPDATE %.outbox AS o SET owner = $1, lease_until = clock_timestamp() + interval '30 s' FROM due WHERE o.event_id = due.event_id
RETURNING o.event_id, o.account_id, o.topic, o.key, o.sequence, o.headers, o.payload)";

constexpr std::string_view remove_rows = "DELETE FROM %.outbox WHERE event_id = ANY ($1::uuid[])";

// The oldest by id: a UUIDv7 begins with the time, and the primary key finds it at once.
constexpr std::string_view measure_rows = R"(
SELECT (SELECT count(*) FROM (SELECT FROM %.outbox LIMIT 100000) AS bounded) AS rows,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - created_at) FROM %.outbox ORDER BY event_id LIMIT 1), 0) AS oldest_seconds)";

std::string for_schema(std::string_view sql, const std::string& schema)
{
    std::string text;
    for (const char c : sql)
        c == '%' ? text.append(schema) : text.append(1, c);
    return text;
}

row read_row(const pqxx::row& columns)
{
    row read;
    read.id = column<event_id>(columns, "event_id");
    read.account = column<account_id>(columns, "account_id");
    read.message.topic = column<std::string>(columns, "topic");
    read.message.key = column<std::string>(columns, "key");
    read.sequence = column<std::int64_t>(columns, "sequence");
    read.message.headers = headers_from_text(column<std::string>(columns, "headers"));
    read.message.is_tombstone = columns["payload"].is_null();
    if (!read.message.is_tombstone)
        read.message.value = postgres::bytes_of(columns["payload"]);
    return read;
}

} // namespace

outbox_repository::outbox_repository(postgres::pool& db, const std::string& schema,
                                     row_remover remover)
    : db_(db),
      schema_(schema),
      remover_(std::move(remover)),
      claim_sql_(for_schema(claim_rows, schema)),
      remove_sql_(for_schema(remove_rows, schema)),
      measure_sql_(for_schema(measure_rows, schema))
{}

awaitable<std::vector<row>> outbox_repository::claim(const std::string& owner, int limit)
{
    return db_.transact([sql = claim_sql_, owner, limit](pqxx::work& tx) {
        std::vector<row> rows;
        for (const auto& columns : tx.exec_params(sql, owner, limit))
            rows.push_back(read_row(columns));
        std::sort(rows.begin(), rows.end(), [](const row& a, const row& b) {
            return std::tie(a.message.key, a.sequence) < std::tie(b.message.key, b.sequence);
        });
        return rows;
    });
}

awaitable<std::vector<row>> outbox_repository::remove(const std::vector<event_id>& ids,
                                                      const std::string& owner)
{
    return db_.transact(
        [sql = remove_sql_, schema = schema_, remover = remover_, owner, ids](pqxx::work& tx) {
            // If a crash of the server undoes a delete, the event is published once more, which is
            // allowed; so the disk need not be synced.
            tx.exec0("SET LOCAL synchronous_commit TO off");
            std::vector<row> again;
            if (remover)
                again = remover(tx, ids);
            else
                tx.exec_params0(sql, postgres::to_array(ids));
            insert(tx, schema, owner, again);
            return again;
        });
}

awaitable<backlog> outbox_repository::measure()
{
    return db_.transact([sql = measure_sql_](pqxx::work& tx) {
        const auto columns = tx.exec1(sql);
        backlog measured;
        measured.rows = column<std::int64_t>(columns, "rows");
        measured.oldest_seconds = column<double>(columns, "oldest_seconds");
        return measured;
    });
}

} // namespace tempinbox::outbox
