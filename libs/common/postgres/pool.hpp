#pragma once

#include "common/config/reader.hpp"
#include "common/core/errors.hpp"
#include "common/runtime/host.hpp"

#include <boost/asio/awaitable.hpp>
#include <pqxx/pqxx>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace tempinbox::postgres {

template <class T = void>
using awaitable = boost::asio::awaitable<T>;

struct settings
{
    std::string dsn;
    std::size_t connections = 8;
    std::size_t queue_limit = 10'000;
    std::chrono::milliseconds statement_timeout{5'000};
    std::chrono::milliseconds lock_timeout{2'000};
};

// `database`, `database-connections`
settings read_settings(config::reader& reader, std::size_t connections = 8);

// A prepared statement; repositories keep theirs as constants next to the code that runs them.
struct statement
{
    const char* name;
    const char* sql;
};

// The COMMIT was sent and its outcome is not known.
class commit_unknown : public dependency_error
{
public:
    using dependency_error::dependency_error;
};

// One connection of a worker. Opened in one place: no silent reactivation, tcp_user_timeout 5 s, time zone UTC, timeouts as set; thrown away when broken.
class connection
{
public:
    connection(const settings& chosen, std::string application);
    pqxx::connection_base& raw() { return *raw_; }

private:
    std::unique_ptr<pqxx::connection> raw_;
};

// Blocking libpqxx on worker threads of its own behind awaitables that resume on the loop. Reports "postgresql" and, given a schema version to
// wait for, "schema" to health. Lost connections, time-outs and a full queue throw dependency_error; SQL errors throw pqxx::sql_error.
class pool
{
public:
    pool(runtime::host& host, settings chosen);
    ~pool();
    pool(const pool&) = delete;

    // Prepared on each connection before its next use.
    void prepare(const statement& wanted);

    // Unready until `schema` is at least at `version` (tempinbox-migrate): checked each second until it is.
    void require_schema(const std::string& schema, int version);

    // Runs `work(pqxx::work&)` in a transaction on a worker and commits; a result<> that holds a failure rolls back. `work` owns its captures.
    template <class Work>
    auto transact(Work work) -> awaitable<std::invoke_result_t<Work, pqxx::work&>>
    {
        using answer = std::invoke_result_t<Work, pqxx::work&>;
        std::function<answer(pqxx::work&)> job(std::move(work));
        return in_transaction<answer>(std::move(job));
    }

    // Runs `work(pqxx::connection_base&)` outside any transaction: for single autocommit statements through pqxx::nontransaction.
    awaitable<void> run(std::function<void(pqxx::connection_base&)> work);

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

    template <class Answer>
    awaitable<Answer> in_transaction(std::function<Answer(pqxx::work&)> job)
    {
        if constexpr (std::is_void_v<Answer>) {
            std::function<bool(pqxx::work&)> step = [&job](pqxx::work& tx) {
                job(tx);
                return true;
            };
            co_await run_transaction(std::move(step));
        } else {
            std::optional<Answer> answer;
            std::function<bool(pqxx::work&)> step = [&job, &answer](pqxx::work& tx) {
                answer.emplace(job(tx));
                return !is_refusal(*answer);
            };
            co_await run_transaction(std::move(step));
            co_return std::move(*answer);
        }
    }

    // `step` says whether to commit. Throws commit_unknown when the connection was lost during COMMIT.
    awaitable<void> run_transaction(std::function<bool(pqxx::work&)> step);

    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::postgres
