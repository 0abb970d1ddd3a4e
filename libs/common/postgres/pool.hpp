#pragma once

#include "common/config/reader.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/postgres/session.hpp"
#include "common/runtime/host.hpp"

#include <pqxx/pqxx>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace tempinbox::postgres {

struct settings
{
    std::string name = "main"; // of the pool, in metrics
    std::string dsn;
    std::string dsn_file; // with the DSN, read again when it changes; empty: it stays
    std::size_t connections = 8;
    std::size_t queue_limit = 10'000;
    std::chrono::milliseconds statement_timeout{5'000};
    std::chrono::milliseconds lock_timeout{2'000};
    std::chrono::milliseconds plan_ttl{60'000}; // then plans are renewed: tables may have grown
};

// `database` or `database-file`, `database-connections`
settings read_settings(config::reader& reader, std::size_t connections = 8);

// A prepared statement; repositories keep theirs as constants next to the code that runs them.
struct statement
{
    const char* name;
    const char* sql;
};

// The COMMIT was sent and its outcome is unknown.
class commit_unknown : public dependency_error
{
public:
    using dependency_error::dependency_error;
};

// statement_timeout or lock_timeout expired: nothing was done, the connection stays usable.
class timed_out : public dependency_error
{
public:
    using dependency_error::dependency_error;
};

// One connection of a worker. Always opened the same way: no silent reconnect, tcp_user_timeout 5
// s, time zone UTC, timeouts as set, indexes preferred to sequential scans; discarded when broken.
class connection
{
public:
    connection(const settings& chosen, std::string application);
    session& raw() { return *raw_; }

private:
    std::unique_ptr<session> raw_;
};

// Runs blocking libpqxx on its own worker threads behind awaitables that resume on the loop.
// Reports "postgresql" and, given a schema version to wait for, "schema" to health. Lost
// connections, time-outs, exhausted resources and a full queue throw dependency_error; other SQL
// errors pass through: pqxx::sql_error, and pqxx::deadlock_detected and serialization_failure,
// which are a sql_error in libpqxx 7 only.
//
// With `dsn_file` connections follow the file: once a connection was opened with a changed DSN,
// further ones are, and the older ones are replaced one by one, each after its worker's job. Until
// then the older DSN stays in use, so a wrong one ends no job.
class pool
{
public:
    pool(runtime::host& host, settings chosen);
    ~pool();
    pool(const pool&) = delete;

    // Prepared on each connection before its next use. Throws logic_error if another statement has
    // the name.
    void prepare(const statement& wanted);

    // Not ready until `schema` is at least at `version` (tempinbox-migrate): checked each second
    // until it is.
    void require_schema(const std::string& schema, int version);

    // Runs `work(pqxx::work&)` in a transaction on a worker and commits; rolls back if it returns a
    // result<> that holds a failure. `work` owns its captures. A job that runs longer than four
    // times the statement time-out loses its connection.
    template <class Work>
    auto transact(Work work) -> awaitable<std::invoke_result_t<Work, pqxx::work&>>
    {
        using result = std::invoke_result_t<Work, pqxx::work&>;
        std::function<result(pqxx::work&)> job(std::move(work));
        return in_transaction<result>(std::move(job));
    }

    // Runs `work(pqxx::connection&)` outside any transaction: for single autocommit statements
    // through pqxx::nontransaction. A connection lost while it runs throws commit_unknown; if none
    // could be opened, a plain dependency_error.
    awaitable<void> run(std::function<void(pqxx::connection&)> work);

    // Lets running work finish, refuses new work, joins the workers (blocking, short).
    void stop();

private:
    template <class T>
    static bool is_refusal(const T&)
    {
        return false;
    }
    template <class T>
    static bool is_refusal(const result<T>& outcome)
    {
        return !outcome;
    }

    template <class Result>
    struct held_job
    {
        std::function<Result(pqxx::work&)> job;
        std::optional<Result> result;

        bool run(pqxx::work& tx)
        {
            result.emplace(job(tx));
            return !is_refusal(*result);
        }
    };

    template <class Result>
        requires std::is_void_v<Result>
    struct held_job<Result>
    {
        std::function<void(pqxx::work&)> job;

        explicit held_job(std::function<void(pqxx::work&)> given) : job(std::move(given)) {}
        bool run(pqxx::work& tx)
        {
            job(tx);
            return true;
        }
    };

    template <class Result>
    awaitable<Result> in_transaction(std::function<Result(pqxx::work&)> job)
    {
        // Shared with the worker, which may still run when the caller's frame is gone.
        auto held = std::make_shared<held_job<Result>>(std::move(job));
        std::function<bool(pqxx::work&)> step = [held](pqxx::work& tx) { return held->run(tx); };
        co_await run_transaction(std::move(step));
        if constexpr (!std::is_void_v<Result>)
            co_return std::move(*held->result);
    }

    // `step` returns whether to commit. Throws commit_unknown if the connection was lost during
    // COMMIT.
    awaitable<void> run_transaction(std::function<bool(pqxx::work&)> step);

    struct state;
    std::shared_ptr<state> state_;
    runtime::file_watch::subscription dsn_file_;
};

} // namespace tempinbox::postgres
