#include "common/http/connection_pool.hpp"

#include "common/async/reset_event.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tempinbox::http {
namespace {

constexpr std::size_t max_sessions_per_host = 4;
// The entry of a host without connections is kept this long for its TLS sessions.
constexpr std::chrono::minutes idle_host_ttl{10};

int entry_index()
{
    static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

} // namespace

void session_deleter::operator()(SSL_SESSION* kept) const
{
    SSL_SESSION_free(kept);
}

struct connection_pool::waiter
{
    explicit waiter(const boost::asio::any_io_executor& executor) : is_granted(executor) {}
    async::reset_event is_granted;
};

connection_pool::connection_pool(boost::asio::io_context& loop, pool_limits limits)
    : sweep_timer_(loop),
      limits_(limits)
{
    limits_.per_host = std::max<std::size_t>(limits_.per_host, 1);
}

awaitable<std::optional<connection_pool::pooled_connection>>
connection_pool::acquire(std::string host, clock::time_point deadline)
{
    auto& slot = hosts_[host];
    if (!slot)
        slot = std::make_shared<host_entry>();
    const std::shared_ptr<host_entry> entry = slot;
    entry->last_used = clock::now();
    if (entry->in_use < limits_.per_host) {
        ++entry->in_use;
        co_return pooled_connection(shared_from_this(), entry);
    }

    const auto self = std::make_shared<waiter>(sweep_timer_.get_executor());
    entry->waiting.push_back(self);
    if (co_await self->is_granted.wait_until(deadline))
        co_return pooled_connection(shared_from_this(), entry);
    std::erase(entry->waiting, self);
    co_return std::nullopt;
}

void connection_pool::release(host_entry& entry)
{
    if (entry.waiting.empty()) {
        --entry.in_use;
        sweep_later();
        return;
    }
    // The right to a connection passes to the caller that has waited longest.
    const auto next = entry.waiting.front();
    entry.waiting.pop_front();
    next->is_granted.set();
}

void connection_pool::close()
{
    sweep_timer_.cancel();
    for (const auto& [host, entry] : hosts_)
        entry->idle.clear();
    idle_.clear();
}

void connection_pool::keep(host_entry& entry, std::unique_ptr<transport> open)
{
    if (limits_.max_age.count() > 0 && clock::now() - open->made_at() >= limits_.max_age)
        return;
    idle_.push_back({std::move(open), clock::now(), &entry});
    entry.idle.push_back(std::prev(idle_.end()));
    if (idle_.size() > limits_.idle)
        close_longest_idle();
}

void connection_pool::close_idle(host_entry& entry)
{
    for (const auto& kept : std::exchange(entry.idle, {}))
        idle_.erase(kept);
}

void connection_pool::close_longest_idle()
{
    // The front of the common list is also the front of its host's.
    idle_.front().host->idle.pop_front();
    idle_.pop_front();
}

void connection_pool::sweep_later()
{
    if (is_sweeping_)
        return;
    is_sweeping_ = true;
    sweep_timer_.expires_after(std::max(limits_.idle_timeout / 2, std::chrono::milliseconds(50)));
    sweep_timer_.async_wait([weak = weak_from_this()](boost::system::error_code stopped) {
        const auto self = weak.lock();
        if (self && !stopped)
            self->sweep();
    });
}

void connection_pool::sweep()
{
    is_sweeping_ = false;
    const auto now = clock::now();
    while (!idle_.empty() && now - idle_.front().since >= limits_.idle_timeout)
        close_longest_idle();
    evict_surplus_sessions();
    std::erase_if(hosts_, [now](const auto& slot) {
        const auto& entry = *slot.second;
        const bool is_evictable = entry.sessions.empty() || now - entry.last_used >= idle_host_ttl;
        return entry.idle.empty() && entry.in_use == 0 && entry.waiting.empty() && is_evictable;
    });
    if (!hosts_.empty())
        sweep_later();
}

// Evicts the sessions of the hosts that were not called for longest.
void connection_pool::evict_surplus_sessions()
{
    std::vector<host_entry*> holders;
    std::size_t held = 0;
    for (const auto& [host, entry] : hosts_) {
        if (!entry->sessions.empty())
            holders.push_back(entry.get());
        held += entry->sessions.size();
    }
    if (held <= limits_.sessions)
        return;
    std::sort(holders.begin(), holders.end(),
              [](const host_entry* a, const host_entry* b) { return a->last_used < b->last_used; });
    for (auto oldest = holders.begin(); oldest != holders.end() && held > limits_.sessions;
         ++oldest) {
        held -= (*oldest)->sessions.size();
        (*oldest)->sessions.clear();
    }
}

void connection_pool::discard_sessions()
{
    for (const auto& [host, entry] : hosts_)
        entry->sessions.clear();
}

int connection_pool::on_new_session(SSL* connection, SSL_SESSION* fresh)
{
    const auto entry = static_cast<host_entry*>(SSL_get_ex_data(connection, entry_index()));
    if (!entry)
        return 0;
    if (entry->sessions.size() >= max_sessions_per_host)
        entry->sessions.erase(entry->sessions.begin());
    entry->sessions.emplace_back(fresh);
    return 1; // we own it now
}

connection_pool::pooled_connection::pooled_connection(std::shared_ptr<connection_pool> pool,
                                                      std::shared_ptr<host_entry> entry)
    : pool_(std::move(pool)),
      entry_(std::move(entry))
{}

connection_pool::pooled_connection::~pooled_connection()
{
    if (pool_)
        pool_->release(*entry_);
}

std::unique_ptr<transport> connection_pool::pooled_connection::take_idle()
{
    const auto now = clock::now();
    while (!entry_->idle.empty()) {
        const auto newest = entry_->idle.back();
        entry_->idle.pop_back();
        const auto since = newest->since;
        auto wire = std::move(newest->wire);
        pool_->idle_.erase(newest);
        if (now - since < pool_->limits_.idle_timeout && wire->is_quiet())
            return wire;
    }
    return nullptr;
}

void connection_pool::pooled_connection::discard_idle()
{
    pool_->close_idle(*entry_);
}

void connection_pool::pooled_connection::keep(std::unique_ptr<transport> open)
{
    pool_->keep(*entry_, std::move(open));
}

tls_session connection_pool::pooled_connection::take_session()
{
    if (entry_->sessions.empty())
        return nullptr;
    auto newest = std::move(entry_->sessions.back());
    entry_->sessions.pop_back();
    return newest;
}

void connection_pool::pooled_connection::discard_sessions()
{
    entry_->sessions.clear();
}

void connection_pool::pooled_connection::collect_sessions(SSL* connection)
{
    SSL_set_ex_data(connection, entry_index(), entry_.get());
}

} // namespace tempinbox::http
