#pragma once

#include "common/async/periodic_task.hpp"
#include "common/async/single_flight.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/credentials/change_set.hpp"
#include "common/credentials/lookup_limiter.hpp"
#include "common/runtime/host.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tempinbox::credentials {

// Which credentials of a client may be looked up in PostgreSQL.
enum class lookups {
    all,
    seen_good // only those that this process has seen good before
};

// Null if the credential is unknown or revoked. What of the owner depends on the clock is for the
// caller to see.
template <class Owner>
struct cache_result
{
    std::shared_ptr<const Owner> owner;
    bool was_looked_up = false;
};

// What one kind of credential differs in from another.
template <class Owner>
struct credential_kind
{
    // One statement, so that version and owner are consistent.
    std::function<awaitable<owner_lookup<Owner>>(std::string key)> find;
    // On a connection that nothing else uses; otherwise entries would go stale while other
    // statements run.
    std::function<awaitable<change_set>(std::optional<std::int64_t> after)> read_changes;
    const char* task;         // that reads changes
    const char* plural;       // in errors: "API keys"
    failure not_allowed;      // for one that may not be looked up
    failure too_many_lookups; // for one that the limiter refused
    prometheus::Counter& lookups;
    prometheus::Counter& failed_reads;
    prometheus::Gauge& known_version;
};

// A cache of the owners of credentials, by digest or name. It reads what changed every 300 ms and
// drops it. An entry is used only if the last successful read began less than 900 ms ago; otherwise
// the credential is looked up. So a revocation is in force within 1 s, and with PostgreSQL away
// `find` throws dependency_error rather than return an old owner. A credential never seen good here
// is looked up through the limiter, so those of strangers never delay good ones. Bounded; runs on
// the loop.
//
// An owner has its account's state as `account`, and says by is_as_found(now) whether the clock
// alone has not made it another one.
template <class Owner>
class credential_cache
{
public:
    using owner = std::shared_ptr<const Owner>;

    credential_cache(runtime::host& host, credential_kind<Owner> kind, lookup_limiter& strangers);
    credential_cache(const credential_cache&) = delete;

    // Starts reading changes.
    void start() { reader_.start(); }
    // Waits for a read and for look-ups in progress. Nobody calls `find` meanwhile.
    awaitable<void> stop();

    // Fails as the kind says if `allowed` forbids the lookup, and when too many lookups are under
    // way.
    awaitable<result<cache_result<Owner>>> find(std::string key, lookups allowed);

private:
    static constexpr std::chrono::milliseconds read_interval{300};
    static constexpr std::chrono::milliseconds max_staleness{900};
    // A longer gap may have missed what was purged meanwhile.
    static constexpr std::chrono::hours max_changes_age{1};
    // A request joins a lookup in flight only this long after it began, so its result is no older
    // than a fresh entry would be.
    static constexpr std::chrono::milliseconds joinable_for{300};
    static constexpr std::chrono::seconds lookup_timeout{2};
    static constexpr std::size_t max_cached = 200'000;
    static constexpr std::size_t max_unknown = 50'000;

    // What one statement found, for all requests that need the same credential at the same time.
    struct lookup
    {
        bool is_refused = false; // by the limiter: there was no statement
        owner found;
        std::string error; // why there is no result
    };
    // An entry that is not current was good at its last lookup, and is looked up again before use.
    struct entry
    {
        owner found;
        bool is_current = true;
    };

    awaitable<std::chrono::microseconds> read_changes();
    void take_changes(const change_set& changes);
    void evict(const std::string& key);
    bool is_fresh() const;
    bool is_current(const entry& cached) const;
    awaitable<lookup> look_up(std::string key);
    awaitable<lookup> query(std::string key);
    void remember(const std::string& key, const owner& found, std::int64_t version);

    const clock_source& clock_;
    credential_kind<Owner> kind_;
    lookup_limiter& strangers_;
    std::optional<std::int64_t> version_; // of changes, as last read
    std::chrono::steady_clock::time_point read_at_{};
    std::unordered_map<std::string, entry> cached_;
    std::unordered_map<account_id, std::vector<std::string>> keys_of_; // of what is cached
    std::unordered_set<std::string> unknown_;
    async::single_flight<std::string, lookup> in_flight_;
    async::periodic_task reader_;
};

template <class Owner>
credential_cache<Owner>::credential_cache(runtime::host& host, credential_kind<Owner> kind,
                                          lookup_limiter& strangers)
    : clock_(host.clock()),
      kind_(std::move(kind)),
      strangers_(strangers),
      in_flight_(host.executor(), {lookup_timeout, joinable_for},
                 [this](std::string key) { return look_up(std::move(key)); }),
      // One failed read in between still leaves the entries fresh.
      reader_(
          host.executor(), host.metrics(), kind_.task, [this] { return read_changes(); },
          read_interval)
{}

template <class Owner>
awaitable<void> credential_cache<Owner>::stop()
{
    co_await reader_.stop();
    co_await in_flight_.stop();
}

template <class Owner>
awaitable<result<cache_result<Owner>>> credential_cache<Owner>::find(std::string key,
                                                                     lookups allowed)
{
    const auto cached = cached_.find(key);
    const bool is_strange = cached == cached_.end();
    // From the cache while it is fresh.
    if (is_fresh()) {
        if (!is_strange && is_current(cached->second))
            co_return cache_result<Owner>{cached->second.found};
        if (unknown_.contains(key))
            co_return cache_result<Owner>();
    }
    if (is_strange && allowed == lookups::seen_good)
        co_return kind_.not_allowed;

    // Otherwise from PostgreSQL, in one lookup with all who need the same credential.
    const auto current = co_await in_flight_.ask(std::move(key));
    if (!current)
        throw dependency_error(std::string(kind_.plural) +
                               " cannot be looked up: no result in time");
    if (current->is_refused)
        co_return kind_.too_many_lookups;
    if (!current->error.empty())
        throw dependency_error(std::string(kind_.plural) +
                               " cannot be looked up: " + current->error);
    co_return cache_result<Owner>{current->found, true};
}

template <class Owner>
bool credential_cache<Owner>::is_fresh() const
{
    return version_ && std::chrono::steady_clock::now() - read_at_ < max_staleness;
}

template <class Owner>
bool credential_cache<Owner>::is_current(const entry& cached) const
{
    return cached.is_current && cached.found->is_as_found(clock_.now());
}

template <class Owner>
awaitable<typename credential_cache<Owner>::lookup>
credential_cache<Owner>::look_up(std::string key)
{
    if (cached_.contains(key))
        co_return co_await query(std::move(key));
    const auto slot = co_await strangers_.enter();
    if (!slot) {
        lookup refused;
        refused.is_refused = true;
        co_return refused;
    }
    co_return co_await query(std::move(key));
}

template <class Owner>
awaitable<typename credential_cache<Owner>::lookup> credential_cache<Owner>::query(std::string key)
{
    kind_.lookups.Increment();
    lookup current;
    try {
        auto row = co_await kind_.find(key);
        if (row.owner)
            current.found = std::make_shared<const Owner>(std::move(*row.owner));
        remember(key, current.found, row.version);
    } catch (const std::exception& error) {
        // Each request that waits reports it.
        current.error = error.what();
    }
    co_return current;
}

// A row older than the changes already read may have missed a change that will not be read again,
// so it serves its waiters but is not cached.
template <class Owner>
void credential_cache<Owner>::remember(const std::string& key, const owner& found,
                                       std::int64_t version)
{
    if (!version_ || version < *version_)
        return;
    if (!found) {
        evict(key);
        if (unknown_.size() >= max_unknown)
            unknown_.clear();
        unknown_.insert(key);
        return;
    }
    if (cached_.size() >= max_cached) {
        cached_.clear();
        keys_of_.clear();
    }
    unknown_.erase(key);
    if (cached_.insert_or_assign(key, entry{found}).second)
        keys_of_[found->account.account].push_back(key);
}

template <class Owner>
void credential_cache<Owner>::evict(const std::string& key)
{
    const auto cached = cached_.find(key);
    if (cached == cached_.end())
        return;
    const auto keys = keys_of_.find(cached->second.found->account.account);
    std::erase(keys->second, key);
    if (keys->second.empty())
        keys_of_.erase(keys);
    cached_.erase(cached);
}

template <class Owner>
awaitable<std::chrono::microseconds> credential_cache<Owner>::read_changes()
{
    const auto began = std::chrono::steady_clock::now();
    try {
        auto changes = co_await kind_.read_changes(version_);
        if (began - read_at_ > max_changes_age)
            changes.is_complete = false;
        take_changes(changes);
        read_at_ = began;
    } catch (...) {
        // Counted, since revocations depend on these reads; the periodic task logs it.
        kind_.failed_reads.Increment();
        throw;
    }
    co_return read_interval;
}

template <class Owner>
void credential_cache<Owner>::take_changes(const change_set& changes)
{
    const bool has_changed = !version_ || *version_ != changes.version;
    version_ = changes.version;
    kind_.known_version.Set(static_cast<double>(changes.version));
    if (!has_changed)
        return;
    // A new credential may be one that was looked up before it existed.
    unknown_.clear();
    if (!changes.is_complete) {
        for (auto& [key, cached] : cached_)
            cached.is_current = false;
        return;
    }
    for (const auto& account : changes.accounts) {
        const auto keys = keys_of_.find(account);
        if (keys == keys_of_.end())
            continue;
        for (const auto& key : keys->second)
            cached_.find(key)->second.is_current = false;
    }
}

} // namespace tempinbox::credentials
