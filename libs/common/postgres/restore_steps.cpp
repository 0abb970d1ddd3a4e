#include "common/postgres/restore_steps.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

namespace tempinbox::postgres {
namespace {

// The name of a WAL file begins with the timeline in hexadecimal; the control file's changes only
// with a checkpoint.
constexpr const char* read_server = R"(
SELECT system_identifier || '-' || timeline AS restore_id, timeline,
       (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000000)::bigint AS recovered_to
FROM (SELECT system_identifier,
             ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint AS timeline
      FROM pg_control_system()) AS server)";

// Any role sees names of applications, also of other roles' sessions.
constexpr const char* list_sessions = R"(
SELECT DISTINCT application_name FROM pg_stat_activity
WHERE datname = current_database() AND application_name = ANY ($1::text[])
ORDER BY application_name)";

constexpr const char* make_step = R"(
INSERT INTO %.restore_steps (restore_id, step) VALUES ($1, $2) ON CONFLICT DO NOTHING)";
constexpr const char* lock_progress = R"(
SELECT position, row_count, finished_at IS NOT NULL AS is_finished
FROM %.restore_steps WHERE restore_id = $1 AND step = $2 FOR UPDATE)";
constexpr const char* save_progress = R"(
UPDATE %.restore_steps
SET position = $3, row_count = $4,
    finished_at = CASE WHEN $5::boolean THEN clock_timestamp() END
WHERE restore_id = $1 AND step = $2)";

std::string for_schema(std::string sql, const std::string& schema)
{
    return sql.replace(sql.find('%'), 1, schema);
}

} // namespace

awaitable<restored_server> read_restored_server(pool& db, std::vector<std::string> services)
{
    return db.transact([names = to_array(services)](pqxx::work& tx) {
        restored_server found;
        const auto row = tx.exec1(read_server);
        read_column(row, "restore_id", found.restore_id);
        read_column(row, "timeline", found.timeline);
        read_column(row, "recovered_to", found.recovered_to);
        for (const auto& session : tx.exec_params(list_sessions, names))
            found.sessions.push_back(column<std::string>(session, "application_name"));
        return found;
    });
}

step_progress lock_step(pqxx::work& tx, const std::string& schema, const std::string& restore_id,
                        const std::string& step)
{
    tx.exec_params0(for_schema(make_step, schema), restore_id, step);
    const auto row = tx.exec_params1(for_schema(lock_progress, schema), restore_id, step);
    step_progress progress;
    read_column(row, "position", progress.position);
    read_column(row, "row_count", progress.rows);
    read_column(row, "is_finished", progress.is_finished);
    return progress;
}

void save_step(pqxx::work& tx, const std::string& schema, const std::string& restore_id,
               const std::string& step, const step_progress& progress)
{
    tx.exec_params0(for_schema(save_progress, schema), restore_id, step, progress.position,
                    progress.rows, progress.is_finished);
}

} // namespace tempinbox::postgres
