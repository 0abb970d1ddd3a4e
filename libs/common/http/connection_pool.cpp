#include "common/http/connection_pool.hpp"

#include <boost/asio/as_tuple.hpp>

#include <openssl/ssl.h>

#include <algorithm>

namespace tempinbox::http {
namespace {

constexpr std::size_t most_sessions = 4;
// A host without connections is remembered this long for its TLS sessions.
constexpr std::chrono::minutes host_memory{10};

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

struct connection_pool::kept_connection
{
    std::unique_ptr<transport> wire;
    clock::time_point since;
};

struct connection_pool::waiter
{
    explicit waiter(const boost::asio::any_io_executor& executor) : timer(executor) {}
    boost::asio::steady_timer timer;
    bool is_granted = false;
};

connection_pool::connection_pool(boost::asio::io_context& loop, std::size_t most_per_host, std::chrono::milliseconds idle_timeout)
    : sweep_timer_(loop),
      most_per_host_(std::max<std::size_t>(most_per_host, 1)),
      idle_timeout_(idle_timeout)
{}

awaitable<std::optional<connection_pool::lease>> connection_pool::acquire(std::string host, clock::time_point deadline)
{
    auto& place = hosts_[host];
    if (!place)
        place = std::make_shared<host_entry>();
    const std::shared_ptr<host_entry> entry = place;
    entry->last_used = clock::now();
    if (entry->leased < most_per_host_) {
        ++entry->leased;
        co_return lease(shared_from_this(), entry);
    }

    const auto self = std::make_shared<waiter>(sweep_timer_.get_executor());
    entry->waiting.push_back(self);
    self->timer.expires_at(deadline);
    co_await self->timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (self->is_granted)
        co_return lease(shared_from_this(), entry);
    std::erase(entry->waiting, self);
    co_return std::nullopt;
}

void connection_pool::release(host_entry& entry)
{
    if (entry.waiting.empty()) {
        --entry.leased;
        sweep_later();
        return;
    }
    // The right passes to who waits longest.
    const auto next = entry.waiting.front();
    entry.waiting.pop_front();
    next->is_granted = true;
    next->timer.cancel();
}

void connection_pool::close()
{
    sweep_timer_.cancel();
    for (const auto& [host, entry] : hosts_)
        entry->idle.clear();
}

void connection_pool::sweep_later()
{
    if (is_sweeping_)
        return;
    is_sweeping_ = true;
    sweep_timer_.expires_after(std::max(idle_timeout_ / 2, std::chrono::milliseconds(50)));
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
    std::erase_if(hosts_, [this, now](auto& place) {
        auto& entry = *place.second;
        std::erase_if(entry.idle, [this, now](const kept_connection& kept) { return now - kept.since >= idle_timeout_; });
        const bool is_forgotten = entry.sessions.empty() || now - entry.last_used >= host_memory;
        return entry.idle.empty() && entry.leased == 0 && entry.waiting.empty() && is_forgotten;
    });
    if (!hosts_.empty())
        sweep_later();
}

int connection_pool::on_new_session(SSL* connection, SSL_SESSION* fresh)
{
    const auto entry = static_cast<host_entry*>(SSL_get_ex_data(connection, entry_index()));
    if (!entry)
        return 0;
    if (entry->sessions.size() >= most_sessions)
        entry->sessions.erase(entry->sessions.begin());
    entry->sessions.emplace_back(fresh);
    return 1; // ours now
}

connection_pool::lease::lease(std::shared_ptr<connection_pool> pool, std::shared_ptr<host_entry> entry)
    : pool_(std::move(pool)),
      entry_(std::move(entry))
{}

connection_pool::lease::~lease()
{
    if (pool_)
        pool_->release(*entry_);
}

std::unique_ptr<transport> connection_pool::lease::take_idle()
{
    const auto now = clock::now();
    while (!entry_->idle.empty()) {
        auto kept = std::move(entry_->idle.back());
        entry_->idle.pop_back();
        if (now - kept.since < pool_->idle_timeout_ && kept.wire->is_quiet())
            return std::move(kept.wire);
    }
    return nullptr;
}

void connection_pool::lease::forget_idle()
{
    entry_->idle.clear();
}

void connection_pool::lease::keep(std::unique_ptr<transport> open)
{
    entry_->idle.push_back(kept_connection{std::move(open), clock::now()});
}

tls_session connection_pool::lease::take_session()
{
    if (entry_->sessions.empty())
        return nullptr;
    auto newest = std::move(entry_->sessions.back());
    entry_->sessions.pop_back();
    return newest;
}

void connection_pool::lease::forget_sessions()
{
    entry_->sessions.clear();
}

void connection_pool::lease::collect_sessions(SSL* connection)
{
    SSL_set_ex_data(connection, entry_index(), entry_.get());
}

} // namespace tempinbox::http
