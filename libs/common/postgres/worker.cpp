#include "common/core/exception_text.hpp"
#include "common/log/log.hpp"
#include "common/postgres/error_kind.hpp"
#include "common/postgres/pool_state.hpp"

#include <poll.h>

namespace tempinbox::postgres {
namespace {

// Thrown by an attempt that failed before anything was done: retried once on a new connection.
struct stale_connection
{
    std::exception_ptr reason;
};

// Thrown if a connection could not be opened beside those of other workers, or was not tried
// because another worker opens the first: nothing was done.
struct left_to_others
{};

[[noreturn]] void rethrow_as(error_kind kind, const std::exception_ptr& error)
{
    switch (kind) {
    case error_kind::timed_out:
        throw timed_out("database: " + text_of(error));
    case error_kind::in_doubt:
        throw commit_unknown("database: " + text_of(error));
    case error_kind::connection_lost:
    case error_kind::out_of_resources:
        throw dependency_error("database: " + text_of(error));
    case error_kind::none:
        break;
    }
    std::rethrow_exception(error);
}

} // namespace

void pool::state::work(worker& me)
{
    using seconds = std::chrono::duration<double>;
    while (auto next = next_job(me)) {
        const auto began = steady::now();
        try {
            const trace::scope here(next->context);
            auto error = perform(me, *next);
            if (!next->is_probe) {
                wait_seconds.Observe(seconds(began - next->queued_at).count());
                auto& took = error ? failed_job_seconds : good_job_seconds;
                took.Observe(seconds(steady::now() - began).count());
            }
            complete(*next, std::move(error));
        } catch (const left_to_others&) {
            // Not an error: another worker, which has a connection or opens one, takes the job.
            give_back(std::move(*next));
        }
    }
    close(me);
}

// Whether other workers have connections and get results on them, which a server that hangs does
// not give. Call it under the mutex.
bool pool::state::can_others_work() const
{
    const auto since_success =
        steady::now().time_since_epoch() - steady::duration(last_success.load());
    return connected > 0 &&
           (chosen.statement_timeout.count() == 0 || since_success < chosen.statement_timeout);
}

// Whether no worker has a connection and one is opening it. Call it under the mutex.
bool pool::state::is_first_opening() const
{
    const auto now = steady::now();
    return connected == 0 && now < first_due && now >= next_attempt;
}

// Whether this worker leaves jobs to others: the server refused it a connection and may have no
// more to give, or it is not known yet whether it gives one. Call it under the mutex.
bool pool::state::leaves_work(const worker& me) const
{
    return !me.is_connected &&
           (is_first_opening() || (steady::now() < next_attempt && can_others_work()));
}

// Waits for a job; nullopt when the pool stops.
std::optional<job> pool::state::next_job(worker& me)
{
    std::unique_lock lock(mutex);
    while (!is_stopping) {
        if (takes_spare(me)) {
            take_spare(me, lock);
            continue;
        }
        const bool leaves = leaves_work(me);
        if (!leaves && !jobs.empty())
            break;
        if (leaves) {
            me.wake.wait_until(lock, connected == 0 ? first_due : next_attempt);
            continue;
        }
        me.is_called = false;
        idle.push_back(&me);
        me.wake.wait(lock, [&] { return me.is_called || is_stopping; });
    }
    if (is_stopping)
        return std::nullopt;
    auto next = std::move(jobs.front());
    jobs.pop_front();
    queue_length.Decrement();
    return next;
}

void pool::state::complete(job& done, std::exception_ptr error)
{
    // Destroys what the job captured before its caller resumes.
    done.step = nullptr;
    done.plain = nullptr;
    if (done.on_done)
        completions.push(
            [resume = std::move(done.on_done), failed = std::move(error)] { resume(failed); });
}

std::exception_ptr pool::state::perform(worker& me, job& next)
{
    try {
        try {
            attempt(me, next, false);
        } catch (const stale_connection&) {
            // Nothing was sent on a connection that was lost while idle, so once more is safe.
            attempt(me, next, true);
        }
        succeed();
        return nullptr;
    } catch (const left_to_others&) {
        // What the job throws goes to its caller, on the loop; only this is the worker's own.
        throw;
    } catch (...) {
        return std::current_exception();
    }
}

void pool::state::attempt(worker& me, job& next, bool is_last_attempt)
{
    const bool was_open = is_usable(me);
    if (!was_open)
        open(me, next.is_probe);
    prepare_missing(me);

    // From here to `release` the supervisor may shut the socket down if the job hangs.
    {
        const std::lock_guard lock(me.mutex);
        me.socket = me.open->raw().sock();
        me.busy_since = steady::now();
    }
    idle_connections.Decrement();
    used_connections.Increment();
    const auto release = [&] {
        {
            const std::lock_guard lock(me.mutex);
            me.socket = -1;
        }
        used_connections.Decrement();
        idle_connections.Increment();
        if (!me.open->raw().is_open())
            close(me);
    };
    try {
        if (was_open)
            renew_plans(me);
        if (next.step)
            attempt_transaction(me, next, was_open, is_last_attempt);
        else
            attempt_plain(me, next);
    } catch (...) {
        // The connection is given up before anyone hears of the failure.
        release();
        throw;
    }
    release();
}

void pool::state::attempt_transaction(worker& me, job& next, bool was_open, bool is_last_attempt)
{
    enum class stage { begin, step, commit } at = stage::begin;
    try {
        pqxx::work tx(me.open->raw());
        at = stage::step;
        const bool should_commit = next.step(tx);
        at = stage::commit;
        if (should_commit)
            tx.commit();
        else
            tx.abort();
    } catch (...) {
        // What the error means depends on the stage that only this place knows.
        const auto error = std::current_exception();
        auto kind = classify(error);
        if (kind == error_kind::none && !me.open->raw().is_open())
            kind = error_kind::connection_lost;
        if (kind == error_kind::connection_lost || kind == error_kind::in_doubt)
            me.open->raw().disconnect();
        // Only a transaction that never began on a connection from before is retried.
        if (kind == error_kind::connection_lost && at == stage::begin && was_open &&
            !is_last_attempt)
            throw stale_connection{error};
        if (kind == error_kind::connection_lost && at == stage::commit)
            kind = error_kind::in_doubt;
        rethrow_as(kind, error);
    }
}

void pool::state::attempt_plain(worker& me, job& next)
{
    try {
        next.plain(me.open->raw());
    } catch (...) {
        // A statement outside a transaction may have been carried out: in doubt, not lost.
        const auto error = std::current_exception();
        auto kind = classify(error);
        if (kind == error_kind::none && !me.open->raw().is_open())
            kind = error_kind::connection_lost;
        if (kind == error_kind::connection_lost) {
            me.open->raw().disconnect();
            kind = error_kind::in_doubt;
        }
        rethrow_as(kind, error);
    }
}

// A socket that is readable between two jobs was closed by the server, or is about to be.
bool pool::state::is_usable(const worker& me) const
{
    if (!me.open || !me.open->raw().is_open())
        return false;
    pollfd socket{me.open->raw().sock(), POLLIN, 0};
    return ::poll(&socket, 1, 0) == 0;
}

// Runs before the job begins, so a connection that turns out to be lost is replaced.
void pool::state::renew_plans(worker& me)
{
    if (steady::now() - me.plans_since < chosen.plan_ttl)
        return;
    me.plans_since = steady::now();
    try {
        pqxx::nontransaction(me.open->raw()).exec("DISCARD PLANS");
    } catch (...) {
        // The job has not begun, so it gets a new connection instead of this error.
        const auto error = std::current_exception();
        me.open->raw().disconnect();
        throw stale_connection{error};
    }
}

void pool::state::open(worker& me, bool is_probe)
{
    // As long as libpq waits for a server.
    constexpr auto first_wait = std::chrono::seconds(3);

    close(me);
    auto with = chosen;
    int version = 0;
    bool opens_first = false;
    {
        const std::lock_guard lock(mutex);
        with.dsn = dsn;
        version = dsn_version;
        if (is_first_opening())
            throw left_to_others();
        if (!is_probe && steady::now() < next_attempt) {
            if (can_others_work())
                throw left_to_others();
            throw dependency_error("database: " + refusal);
        }
        opens_first = connected == 0;
        if (opens_first)
            first_due = steady::now() + first_wait;
    }
    try {
        me.open = std::make_unique<connection>(with, "tempinbox-" + host.name());
    } catch (...) {
        // All workers share the delay before the next attempt to connect.
        constexpr std::chrono::milliseconds min_delay{100}, max_delay{2'000};
        auto reason = text_of(std::current_exception());
        {
            const std::lock_guard lock(mutex);
            // The connections that there were are lost meanwhile, and that the server refused a
            // further one says nothing about the first.
            if (connected == 0 && !opens_first)
                throw left_to_others();
            const bool is_first = reconnect_delay.count() == 0;
            reconnect_delay = std::clamp(reconnect_delay * 2, min_delay, max_delay);
            next_attempt = steady::now() + reconnect_delay;
            refusal = reason;
            first_due = {};
            wake_workers();
            if (can_others_work()) {
                if (is_first)
                    log::warning(
                        "no further connection to PostgreSQL, statements wait for the open ones",
                        {{"reason", reason}});
                throw left_to_others();
            }
            // Under the mutex: of this and a success at the same time the later one counts.
            is_away = true;
            host.health().lost("postgresql", reason);
        }
        throw dependency_error("database: " + reason);
    }
    idle_connections.Increment();
    me.prepared = 0;
    me.plans_since = steady::now();
    {
        const std::lock_guard lock(mutex);
        reconnect_delay = std::chrono::milliseconds(0);
        next_attempt = {};
        first_due = {};
        me.is_connected = true;
        me.dsn_version = version;
        // Those that waited for the first connection may open theirs.
        if (++connected == 1)
            wake_workers();
        last_success = steady::now().time_since_epoch().count();
        if (is_away.exchange(false))
            host.health().met("postgresql");
    }
    // The DSN may have changed while this connection was being opened with the older one.
    wake_renewer.notify_one();
}

// Notes that a job has its result. A server that was away, or only too slow, is there again.
void pool::state::succeed()
{
    last_success = steady::now().time_since_epoch().count();
    if (!is_away)
        return;
    const std::lock_guard lock(mutex);
    if (is_away.exchange(false))
        host.health().met("postgresql");
}

void pool::state::close(worker& me)
{
    if (!me.open)
        return;
    me.open.reset();
    idle_connections.Decrement();
    {
        const std::lock_guard lock(mutex);
        me.is_connected = false;
        --connected;
        // Without any connection left, no worker may leave jobs to others, and the first is tried
        // at once, though a further one was refused.
        if (connected == 0) {
            reconnect_delay = std::chrono::milliseconds(0);
            next_attempt = {};
            wake_workers();
        }
    }
    // The supervisor finds out whether the server is gone or only this connection.
    wake_supervisor.notify_one();
    wake_renewer.notify_one();
}

// Those that leave jobs to others look again. Call it under the mutex.
void pool::state::wake_workers()
{
    for (const auto& one : workers)
        one->wake.notify_one();
}

// The server gets a statement at its first use.
void pool::state::prepare_missing(worker& me)
{
    const std::lock_guard lock(mutex);
    for (; me.prepared < statements.size(); ++me.prepared)
        me.open->raw().define(statements[me.prepared].name, statements[me.prepared].sql);
}

} // namespace tempinbox::postgres
