#include "common/postgres/pool.hpp"

#include "common/postgres/dsn_settings.hpp"
#include "common/postgres/pool_state.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <string_view>

namespace tempinbox::postgres {
namespace {

prometheus::Gauge& connections(runtime::host& host, const char* state)
{
    return host.metrics().gauge("tempinbox_db_pool_connections",
                                "Open connections to PostgreSQL by state, those of all pools of "
                                "the process",
                                {{"state", state}});
}

prometheus::Histogram& job_seconds(runtime::host& host, const std::string& pool,
                                   const char* outcome)
{
    return host.metrics().histogram("tempinbox_db_pool_job_seconds",
                                    "Time that a worker spent on a job, a transaction commonly",
                                    metrics::latency_buckets(),
                                    {{"pool", pool}, {"outcome", outcome}});
}

} // namespace

settings read_settings(config::reader& reader, std::size_t connections)
{
    settings chosen;
    auto from = read_dsn_settings(
        reader, "PostgreSQL, as libpq takes it: postgresql://user:password@host:5432/name");
    chosen.dsn = std::move(from.dsn);
    chosen.dsn_file = std::move(from.file);
    chosen.connections = static_cast<std::size_t>(
        reader.integer("database-connections", static_cast<std::int64_t>(connections), 1, 200,
                       "Maximum connections to PostgreSQL"));
    return chosen;
}

pool::state::state(runtime::host& where, settings given)
    : host(where),
      chosen(std::move(given)),
      completions(where.loop()),
      dsn(chosen.dsn),
      idle_connections(connections(where, "idle")),
      used_connections(connections(where, "used")),
      queue_length(where.metrics().gauge("tempinbox_db_pool_queue_length",
                                         "Jobs that wait for a worker of the pool",
                                         {{"pool", chosen.name}})),
      wait_seconds(where.metrics().histogram("tempinbox_db_pool_wait_seconds",
                                             "Time that a job waited for a worker of the pool",
                                             metrics::latency_buckets(), {{"pool", chosen.name}})),
      good_job_seconds(job_seconds(where, chosen.name, "ok")),
      failed_job_seconds(job_seconds(where, chosen.name, "error")),
      is_dsn_current(where.metrics().gauge(
          "tempinbox_db_pool_dsn_current",
          "Whether all connections of the pool use the DSN of database-file (1), 0 while older "
          "ones are in use or the DSN does not connect",
          {{"pool", chosen.name}}))
{
    is_dsn_current.Set(1);
    host.health().expect("postgresql");
}

void pool::state::start()
{
    for (std::size_t i = 0; i < chosen.connections; ++i)
        workers.push_back(std::make_unique<worker>());
    for (const auto& one : workers)
        one->thread = std::thread([this, me = one.get()] { work(*me); });
    supervisor = std::thread([this] { supervise(); });
    if (!chosen.dsn_file.empty())
        renewer = std::thread([this] { renew_connections(); });
}

void pool::state::stop()
{
    std::deque<job> refused;
    {
        const std::lock_guard lock(mutex);
        if (std::exchange(is_stopping, true))
            return;
        refused.swap(jobs);
        queue_length.Set(0);
    }
    for (const auto& one : workers)
        one->wake.notify_one();
    wake_supervisor.notify_all();
    wake_renewer.notify_all();
    for (auto& one : refused)
        complete(one, std::make_exception_ptr(dependency_error("database pool is stopping")));
    supervisor.join();
    if (renewer.joinable())
        renewer.join();
    for (const auto& one : workers)
        one->thread.join();
}

void pool::state::enqueue(job next)
{
    const char* refused = nullptr;
    {
        const std::lock_guard lock(mutex);
        if (is_stopping) {
            refused = "database pool is stopping";
        } else if (jobs.size() >= chosen.queue_limit) {
            refused = "database is busy";
        } else {
            add(std::move(next));
        }
    }
    if (refused != nullptr)
        complete(next, std::make_exception_ptr(dependency_error(refused)));
}

// Call it under the mutex.
void pool::state::add(job next)
{
    jobs.push_back(std::move(next));
    queue_length.Increment();
    if (idle.empty())
        return;
    // Prefers a worker that has a connection: the server may refuse a further one.
    const auto connected_one = std::find_if(idle.rbegin(), idle.rend(),
                                            [](const worker* one) { return one->is_connected; });
    call(connected_one == idle.rend() ? *idle.back() : **connected_one);
}

// Wakes an idle worker. Call it under the mutex.
void pool::state::call(worker& wanted)
{
    std::erase(idle, &wanted);
    wanted.is_called = true;
    wanted.wake.notify_one();
}

// Returns a job that was not begun for want of a connection: a worker that has one takes it next.
void pool::state::give_back(job next)
{
    {
        const std::lock_guard lock(mutex);
        if (!is_stopping) {
            jobs.push_front(std::move(next));
            queue_length.Increment();
            const auto able = std::find_if(idle.rbegin(), idle.rend(),
                                           [](const worker* one) { return one->is_connected; });
            if (able != idle.rend())
                call(**able);
            return;
        }
    }
    complete(next, std::make_exception_ptr(dependency_error("database pool is stopping")));
}

void pool::state::require(const std::string& schema, int version)
{
    host.health().expect("schema");
    {
        const std::lock_guard lock(mutex);
        required.push_back({schema, version});
    }
    wake_supervisor.notify_one();
}

pool::pool(runtime::host& host, settings chosen)
    : state_(std::make_shared<state>(host, std::move(chosen)))
{
    const auto& file = state_->chosen.dsn_file;
    if (!file.empty())
        dsn_file_ = host.files().watch("database-file", {file}, [file, to = state_.get()] {
            to->use_dsn(read_dsn_file(file));
        });
    state_->start();
}

pool::~pool()
{
    stop();
}

void pool::prepare(const statement& wanted)
{
    const std::lock_guard lock(state_->mutex);
    for (const auto& known : state_->statements) {
        if (std::string_view(known.name) != wanted.name)
            continue;
        // Stores that share a statement each prepare it.
        if (std::string_view(known.sql) == wanted.sql)
            return;
        // On a connection the second would fail every job, and nobody would see why.
        throw std::logic_error("two statements are called " + std::string(wanted.name));
    }
    state_->statements.push_back(wanted);
}

void pool::require_schema(const std::string& schema, int version)
{
    state_->require(schema, version);
}

void pool::stop()
{
    state_->stop();
}

namespace {

// Suspends the caller until the job is done.
template <class Enqueue>
awaitable<void> wait_for(Enqueue enqueue, job next)
{
    const auto initiate = [](auto handler, Enqueue to_queue, job waiting) {
        auto resume = std::make_shared<decltype(handler)>(std::move(handler));
        waiting.on_done = [resume](const std::exception_ptr& error) {
            trace::resume(std::move(*resume), error);
        };
        to_queue(std::move(waiting));
    };
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>,
                                       void(std::exception_ptr)>(
        initiate, boost::asio::use_awaitable, std::move(enqueue), std::move(next));
}

} // namespace

awaitable<void> pool::run_transaction(std::function<bool(pqxx::work&)> step)
{
    job next;
    next.step = std::move(step);
    next.context = trace::current();
    return wait_for([to = state_](job waiting) { to->enqueue(std::move(waiting)); },
                    std::move(next));
}

awaitable<void> pool::run(std::function<void(pqxx::connection&)> work)
{
    job next;
    next.plain = std::move(work);
    next.context = trace::current();
    return wait_for([to = state_](job waiting) { to->enqueue(std::move(waiting)); },
                    std::move(next));
}

} // namespace tempinbox::postgres
