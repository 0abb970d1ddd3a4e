#include "gateway/access/key_cache.hpp"

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto read_interval = 300ms;
constexpr auto max_staleness = 900ms;
// accounts.changes has deleted accounts for a day, so a shorter gap misses none.
constexpr auto max_changes_age = 1h;
// A request joins a lookup in flight only this long after it began, so its result is no older than
// a fresh entry would be.
constexpr auto joinable_for = 300ms;
constexpr auto lookup_timeout = 2s;
constexpr std::size_t max_cached = 200'000;
constexpr std::size_t max_unknown = 50'000;

} // namespace

key_cache::key_cache(runtime::host& host, accounts::key_repository& keys,
                     accounts::key_repository& changes, lookup_limiter& strangers)
    : clock_(host.clock()),
      keys_(keys),
      changes_(changes),
      strangers_(strangers),
      lookups_(host.metrics().counter("tempinbox_gateway_key_lookups_total",
                                      "API keys looked up in PostgreSQL")),
      failed_reads_(host.metrics().counter("tempinbox_gateway_key_change_reads_failed_total",
                                           "Reads of accounts.changes that failed")),
      known_version_(host.metrics().gauge("tempinbox_gateway_key_change_version",
                                          "Version up to which accounts.changes has been read")),
      in_flight_(host.executor(), {lookup_timeout, joinable_for},
                 [this](std::string digest) { return look_up(std::move(digest)); }),
      // One failed read in between still leaves the entries fresh.
      reader_(
          host.executor(), host.metrics(), "read_key_changes", [this] { return read_changes(); },
          read_interval)
{}

awaitable<result<key_result>> key_cache::find(std::string digest, lookups allowed)
{
    const auto cached = cached_.find(digest);
    const bool is_strange = cached == cached_.end();
    // From the cache while it is fresh.
    if (is_fresh()) {
        if (!is_strange && is_current(cached->second))
            co_return key_result{cached->second.found};
        if (unknown_.contains(digest))
            co_return key_result();
    }
    if (is_strange && allowed == lookups::seen_good)
        co_return failure{errc::rate_limited,
                          "Too many requests without a valid API key from this address",
                          error_reason::authentication_limit};

    // Otherwise from PostgreSQL, in one lookup with all who need the same key.
    const auto current = co_await in_flight_.ask(std::move(digest));
    if (!current)
        throw dependency_error("API keys cannot be looked up: no result in time");
    if (current->is_refused)
        co_return too_many_lookups();
    if (!current->error.empty())
        throw dependency_error("API keys cannot be looked up: " + current->error);
    co_return key_result{current->found, true};
}

bool key_cache::is_fresh() const
{
    return version_ && steady::now() - read_at_ < max_staleness;
}

// No change is published when an older key expires, which may make this one active.
bool key_cache::is_current(const entry& cached) const
{
    const auto& position_ends_at = cached.found->position_ends_at;
    return cached.is_current && (!position_ends_at || clock_.now() < *position_ends_at);
}

awaitable<key_cache::lookup> key_cache::look_up(std::string digest)
{
    if (cached_.contains(digest))
        co_return co_await query(std::move(digest));
    const auto slot = co_await strangers_.enter();
    if (!slot) {
        lookup refused;
        refused.is_refused = true;
        co_return refused;
    }
    co_return co_await query(std::move(digest));
}

awaitable<key_cache::lookup> key_cache::query(std::string digest)
{
    lookups_.Increment();
    lookup current;
    try {
        auto row = co_await keys_.find_by_digest(digest);
        if (row.owner)
            current.found = std::make_shared<const accounts::key_owner>(std::move(*row.owner));
        remember(digest, current.found, row.version);
    } catch (const std::exception& error) {
        // Each request that waits reports it.
        current.error = error.what();
    }
    co_return current;
}

// A row older than the changes already read may have missed a change that will not be read again,
// so it serves its waiters but is not cached.
void key_cache::remember(const std::string& digest, const owner& found, std::int64_t version)
{
    if (!version_ || version < *version_)
        return;
    if (!found) {
        evict(digest);
        if (unknown_.size() >= max_unknown)
            unknown_.clear();
        unknown_.insert(digest);
        return;
    }
    if (cached_.size() >= max_cached) {
        cached_.clear();
        digests_of_.clear();
    }
    unknown_.erase(digest);
    if (cached_.insert_or_assign(digest, entry{found}).second)
        digests_of_[found->account.account].push_back(digest);
}

void key_cache::evict(const std::string& digest)
{
    const auto cached = cached_.find(digest);
    if (cached == cached_.end())
        return;
    const auto digests = digests_of_.find(cached->second.found->account.account);
    std::erase(digests->second, digest);
    if (digests->second.empty())
        digests_of_.erase(digests);
    cached_.erase(cached);
}

awaitable<std::chrono::microseconds> key_cache::read_changes()
{
    const auto began = steady::now();
    try {
        auto changes = co_await changes_.read_changes(version_);
        if (began - read_at_ > max_changes_age)
            changes.is_complete = false;
        take_changes(changes);
        read_at_ = began;
    } catch (...) {
        // Counted, since revocations depend on these reads; the periodic task logs it.
        failed_reads_.Increment();
        throw;
    }
    co_return read_interval;
}

void key_cache::take_changes(const accounts::change_set& changes)
{
    const bool has_changed = !version_ || *version_ != changes.version;
    version_ = changes.version;
    known_version_.Set(static_cast<double>(changes.version));
    if (!has_changed)
        return;
    // A new key may be one that was looked up before it existed.
    unknown_.clear();
    if (!changes.is_complete) {
        for (auto& [digest, cached] : cached_)
            cached.is_current = false;
        return;
    }
    for (const auto& account : changes.accounts) {
        const auto digests = digests_of_.find(account);
        if (digests == digests_of_.end())
            continue;
        for (const auto& digest : digests->second)
            cached_.find(digest)->second.is_current = false;
    }
}

} // namespace tempinbox::gateway
