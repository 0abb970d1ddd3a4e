#include "common/core/exception_text.hpp"
#include "common/log/log.hpp"
#include "common/postgres/composite_type.hpp"
#include "common/postgres/pool_state.hpp"

#include <algorithm>

namespace tempinbox::postgres {
namespace {

// Where no server has answered, libpq cites the DSN, whose password may be part of what it took for
// a host's name.
std::string refusal_of(const std::exception_ptr& error)
{
    const auto text = text_of(error);
    const auto said_by_server = text.find("FATAL:");
    return said_by_server == std::string::npos ? "no server answers there"
                                               : text.substr(said_by_server);
}

} // namespace

// The DSN that the file holds now.
void pool::state::use_dsn(std::string changed)
{
    {
        const std::lock_guard lock(mutex);
        changed_dsn.reset();
        if (changed != dsn) {
            changed_dsn = std::move(changed);
            is_dsn_current.Set(0);
        }
        renewal_delay = std::chrono::milliseconds(0);
        next_renewal = {};
    }
    wake_renewer.notify_one();
}

// On a thread of its own: a server that does not answer holds up no worker. Opens one connection at
// a time, beside those in use, so that a DSN that does not connect costs none of them.
void pool::state::renew_connections()
{
    std::unique_lock lock(mutex);
    while (!is_stopping) {
        const bool is_behind = has_outdated();
        is_dsn_current.Set(is_behind || changed_dsn ? 0 : 1);
        if (!is_behind)
            spare.reset();
        if (!changed_dsn && (!is_behind || spare)) {
            wake_renewer.wait(lock);
            continue;
        }
        if (steady::now() < next_renewal) {
            wake_renewer.wait_until(lock, next_renewal);
            continue;
        }
        auto with = chosen;
        with.dsn = changed_dsn.value_or(dsn);
        lock.unlock();
        std::unique_ptr<connection> opened;
        std::string refused;
        try {
            opened = std::make_unique<connection>(with, "tempinbox-" + host.name());
        } catch (...) {
            // Nobody waits for this connection: it is tried again later.
            refused = refusal_of(std::current_exception());
        }
        lock.lock();
        if (opened)
            add_spare(with.dsn, std::move(opened));
        else
            postpone_renewal(refused);
    }
    spare.reset();
}

// Call it under the mutex.
void pool::state::add_spare(const std::string& tried, std::unique_ptr<connection> opened)
{
    renewal_delay = std::chrono::milliseconds(0);
    if (changed_dsn == tried) {
        dsn = std::move(*changed_dsn);
        changed_dsn.reset();
        ++dsn_version;
        // Workers without a connection need not wait for the end of the older one's delay.
        reconnect_delay = std::chrono::milliseconds(0);
        next_attempt = {};
        log::info("new connections to PostgreSQL use the changed DSN", {{"pool", chosen.name}});
    } else if (dsn != tried) {
        return; // changed again meanwhile
    }
    spare.emplace();
    spare->open = std::move(opened);
    spare->dsn_version = dsn_version;
    // An idle worker takes it at once, the one that was idle longest; else the next to end its job.
    const auto idle_one = std::find_if(idle.begin(), idle.end(),
                                       [this](const worker* one) { return takes_spare(*one); });
    if (idle_one != idle.end())
        call(**idle_one);
}

// Call it under the mutex.
void pool::state::postpone_renewal(const std::string& reason)
{
    constexpr std::chrono::milliseconds min_delay{500}, max_delay{5'000};
    const bool is_first = renewal_delay.count() == 0;
    renewal_delay = std::clamp(renewal_delay * 2, min_delay, max_delay);
    next_renewal = steady::now() + renewal_delay;
    if (is_first)
        log::warning("no connection to PostgreSQL with the changed DSN, the open ones stay in use",
                     {{"pool", chosen.name}, {"reason", reason}});
}

// Call it under the mutex.
bool pool::state::is_outdated(const worker& me) const
{
    return me.is_connected && me.dsn_version < dsn_version;
}

// Call it under the mutex.
bool pool::state::has_outdated() const
{
    return std::any_of(workers.begin(), workers.end(),
                       [this](const auto& one) { return is_outdated(*one); });
}

// Call it under the mutex.
bool pool::state::takes_spare(const worker& me) const
{
    return spare && me.is_connected && me.dsn_version < spare->dsn_version;
}

// Replaces an idle connection of the worker. The older one is closed without the mutex.
void pool::state::take_spare(worker& me, std::unique_lock<std::mutex>& lock)
{
    auto taken = std::move(*spare);
    spare.reset();
    me.dsn_version = taken.dsn_version;
    lock.unlock();
    clear_composite_oids();
    me.open = std::move(taken.open);
    me.prepared = 0;
    me.plans_since = steady::now();
    wake_renewer.notify_one();
    lock.lock();
}

} // namespace tempinbox::postgres
