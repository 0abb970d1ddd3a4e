#pragma once

#include "common/postgres/pool.hpp"
#include "common/runtime/completion_queue.hpp"
#include "common/trace/current.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tempinbox::postgres {

using steady = std::chrono::steady_clock;

// A job for a worker: a transaction's step, or work on the bare connection.
struct job
{
    std::function<bool(pqxx::work&)> step;
    std::function<void(pqxx::connection&)> plain;
    std::function<void(std::exception_ptr)> on_done; // called on the loop
    steady::time_point queued_at = steady::now();
    bool is_probe = false;
    std::shared_ptr<const trace::context> context; // of the caller
};

// A thread with its own connection, opened when first needed. Only its thread touches it, except
// for `socket` and `busy_since`, which the supervisor reads under `mutex`.
struct worker
{
    std::thread thread;
    std::unique_ptr<connection> open;
    std::size_t prepared = 0;
    steady::time_point plans_since; // when its oldest plan may have been made

    std::condition_variable wake;
    bool is_called = false;    // under the pool's mutex
    bool is_connected = false; // under the pool's mutex: `open` is set
    int dsn_version = 0;       // under the pool's mutex: of `open`

    std::mutex mutex;
    int socket = -1; // while a job runs
    steady::time_point busy_since;
};

// For a worker whose connection has an older DSN.
struct spare_connection
{
    std::unique_ptr<connection> open;
    int dsn_version = 0;
};

// Jobs wait here and workers take them. The supervisor probes the server once a second while no job
// does, waits for the schema, and frees workers whose server stopped responding. The renewer opens
// connections beside those in use when the DSN changed.
struct pool::state : std::enable_shared_from_this<pool::state>
{
    state(runtime::host& where, settings given);

    void start();
    void stop();
    void enqueue(job next);
    void require(const std::string& schema, int version);

    void add(job next);
    void call(worker& wanted);
    void give_back(job next);
    std::optional<job> next_job(worker& me);
    void work(worker& me);
    void supervise();
    void use_dsn(std::string changed);
    void renew_connections();

    runtime::host& host;
    const settings chosen;
    runtime::completion_queue completions;

    std::mutex mutex;
    std::condition_variable wake_supervisor;
    std::deque<job> jobs;
    // The worker that became idle last is woken first: its backend's memory is still in the CPU's
    // caches.
    std::vector<worker*> idle;
    bool is_stopping = false;
    std::vector<statement> statements;
    struct requirement
    {
        std::string schema;
        int version;
    };
    std::vector<requirement> required;

    // While no worker has a connection, one alone opens the first, until `first_due` at the latest,
    // and jobs wait for it: of several at once the server may refuse all but one, or even all.
    steady::time_point first_due;
    // After a connection could not be opened, none is tried until `next_attempt`. Jobs wait for
    // workers that have a connection; if no worker has one, they are refused.
    steady::time_point next_attempt;
    std::chrono::milliseconds reconnect_delay{0};
    std::string refusal;
    std::size_t connected = 0; // workers that have a connection

    // Connections are opened with `dsn`. A changed DSN becomes it by opening a connection; until
    // then it waits in `changed_dsn`.
    std::string dsn;
    int dsn_version = 0;
    std::optional<std::string> changed_dsn;
    // Taken between two jobs.
    std::optional<spare_connection> spare;
    std::condition_variable wake_renewer;
    steady::time_point next_renewal;
    std::chrono::milliseconds renewal_delay{0};

    std::atomic<bool> is_away{true};
    std::atomic<steady::rep> last_success{0};

    prometheus::Gauge& idle_connections;
    prometheus::Gauge& used_connections;
    prometheus::Gauge& queue_length;
    prometheus::Histogram& wait_seconds;
    prometheus::Histogram& good_job_seconds;
    prometheus::Histogram& failed_job_seconds;
    prometheus::Gauge& is_dsn_current;

    std::vector<std::unique_ptr<worker>> workers;
    std::thread supervisor;
    std::thread renewer; // where the DSN comes from a file

private:
    std::exception_ptr perform(worker& me, job& next);
    void attempt(worker& me, job& next, bool is_last_attempt);
    void attempt_transaction(worker& me, job& next, bool was_open, bool is_last_attempt);
    void attempt_plain(worker& me, job& next);
    void open(worker& me, bool is_probe);
    void close(worker& me);
    void wake_workers();
    void succeed();
    bool can_others_work() const;
    bool is_first_opening() const;
    bool leaves_work(const worker& me) const;
    bool is_usable(const worker& me) const;
    void renew_plans(worker& me);
    void prepare_missing(worker& me);
    void complete(job& done, std::exception_ptr error);

    bool is_outdated(const worker& me) const;
    bool has_outdated() const;
    bool takes_spare(const worker& me) const;
    void take_spare(worker& me, std::unique_lock<std::mutex>& lock);
    void add_spare(const std::string& tried, std::unique_ptr<connection> opened);
    void postpone_renewal(const std::string& reason);

    void probe();
    void check_schema();
    void judge_schema(const requirement& wanted, int found);
    void refuse_old_jobs();
    void free_stuck_workers();
};

} // namespace tempinbox::postgres
