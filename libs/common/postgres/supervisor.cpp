#include "common/postgres/pool_state.hpp"

#include "common/postgres/column.hpp"

#include <sys/socket.h>

namespace tempinbox::postgres {
namespace {

int schema_version(pqxx::connection& db, const std::string& schema)
{
    try {
        const auto rows =
            pqxx::nontransaction(db).exec_params("SELECT coalesce(max(version), 0) AS version FROM "
                                                 "public.tempinbox_migrations WHERE schema = $1",
                                                 schema);
        return column<int>(rows[0], "version");
    } catch (const pqxx::undefined_table&) {
        // No migration has run yet.
        return 0;
    }
}

} // namespace

void pool::state::supervise()
{
    constexpr auto interval = std::chrono::seconds(1);
    std::unique_lock lock(mutex);
    while (!is_stopping) {
        lock.unlock();
        probe();
        check_schema();
        refuse_old_jobs();
        free_stuck_workers();
        lock.lock();
        if (!is_stopping)
            wake_supervisor.wait_for(lock, interval);
    }
}

// While jobs run, they themselves show whether the server responds.
void pool::state::probe()
{
    const std::lock_guard lock(mutex);
    const auto since_success =
        steady::now().time_since_epoch() - steady::duration(last_success.load());
    if (is_stopping || !jobs.empty() || (!is_away && since_success < std::chrono::seconds(1)))
        return;
    job question;
    question.is_probe = true;
    question.plain = [](pqxx::connection& db) { pqxx::nontransaction(db).exec("SELECT 1"); };
    add(std::move(question));
}

void pool::state::check_schema()
{
    const std::lock_guard lock(mutex);
    if (is_stopping || required.empty() || is_away || jobs.size() > chosen.connections)
        return;
    job question;
    question.is_probe = true;
    question.plain = [this, wanted = required.front()](pqxx::connection& db) {
        try {
            judge_schema(wanted, schema_version(db, wanted.schema));
        } catch (const pqxx::sql_error& error) {
            // The check is repeated; until it succeeds the process is not ready.
            host.health().lost("schema", error.what());
        }
    };
    add(std::move(question));
}

void pool::state::judge_schema(const requirement& wanted, int found)
{
    if (found < wanted.version) {
        host.health().lost("schema", "schema " + wanted.schema + " is at version " +
                                         std::to_string(found) + ", version " +
                                         std::to_string(wanted.version) +
                                         " is needed: run tempinbox-migrate");
        return;
    }
    const std::lock_guard lock(mutex);
    std::erase_if(required, [&](const requirement& one) {
        return one.schema == wanted.schema && one.version <= found;
    });
    if (required.empty())
        host.health().met("schema");
}

void pool::state::refuse_old_jobs()
{
    if (chosen.statement_timeout.count() == 0)
        return;
    std::vector<job> refused;
    {
        const std::lock_guard lock(mutex);
        const auto oldest = steady::now() - chosen.statement_timeout;
        while (!jobs.empty() && jobs.front().queued_at < oldest) {
            refused.push_back(std::move(jobs.front()));
            jobs.pop_front();
            queue_length.Decrement();
        }
    }
    for (auto& one : refused)
        complete(one, std::make_exception_ptr(dependency_error("database is busy")));
}

// The server enforces statement_timeout, but one that hangs does not. Shutting the socket down ends
// the worker's wait.
void pool::state::free_stuck_workers()
{
    const auto timeout = 4 * chosen.statement_timeout;
    if (timeout.count() == 0)
        return;
    for (const auto& one : workers) {
        const std::lock_guard lock(one->mutex);
        if (one->socket >= 0 && steady::now() - one->busy_since > timeout) {
            ::shutdown(one->socket, SHUT_RDWR);
            one->socket = -1;
        }
    }
}

} // namespace tempinbox::postgres
