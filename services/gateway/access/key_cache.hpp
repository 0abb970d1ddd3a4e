#pragma once

#include "accounts/key_repository.hpp"
#include "common/async/periodic_task.hpp"
#include "common/async/single_flight.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "gateway/quota/lookup_limiter.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tempinbox::gateway {

// Which keys or sessions of a client may be looked up in PostgreSQL.
enum class lookups {
    all,
    seen_good // only those that this gateway has seen good before
};

// The owner of a key: null if the key is unknown or revoked. Whether the key has expired is for the
// caller to see.
struct key_result
{
    std::shared_ptr<const accounts::key_owner> owner;
    bool was_looked_up = false;
};

// A cache of API keys' owners. It reads accounts.changes every 300 ms and drops what changed. An
// entry is used only if the last successful read began less than 900 ms ago; otherwise the key is
// looked up. So a revocation is in force within 1 s, and with PostgreSQL away `find` throws
// dependency_error rather than return an old owner. A key never seen good here is looked up through
// the limiter, so strangers' keys never delay good ones. Bounded; runs on the loop.
class key_cache
{
public:
    using owner = std::shared_ptr<const accounts::key_owner>;

    // `changes` has a connection that nothing else uses; otherwise entries would go stale while
    // other statements run.
    key_cache(runtime::host& host, accounts::key_repository& keys,
              accounts::key_repository& changes, lookup_limiter& strangers);
    key_cache(const key_cache&) = delete;

    // Starts reading changes.
    void start() { reader_.start(); }
    // Waits for a read in progress.
    awaitable<void> stop() { return reader_.stop(); }

    // Fails with rate_limited if `allowed` forbids the lookup, with unavailable when too many
    // lookups are under way.
    awaitable<result<key_result>> find(std::string digest, lookups allowed);

private:
    // What one statement found, for all requests that need the same key at the same time.
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
    void take_changes(const accounts::change_set& changes);
    void evict(const std::string& digest);
    bool is_fresh() const;
    bool is_current(const entry& cached) const;
    awaitable<lookup> look_up(std::string digest);
    awaitable<lookup> query(std::string digest);
    void remember(const std::string& digest, const owner& found, std::int64_t version);

    const clock_source& clock_;
    accounts::key_repository& keys_;
    accounts::key_repository& changes_;
    lookup_limiter& strangers_;
    std::optional<std::int64_t> version_; // of accounts.changes, as last read
    std::chrono::steady_clock::time_point read_at_{};
    std::unordered_map<std::string, entry> cached_;
    std::unordered_map<account_id, std::vector<std::string>> digests_of_; // of the cached keys
    std::unordered_set<std::string> unknown_;
    prometheus::Counter& lookups_;
    prometheus::Counter& failed_reads_;
    prometheus::Gauge& known_version_;
    async::single_flight<std::string, lookup> in_flight_;
    async::periodic_task reader_;
};

} // namespace tempinbox::gateway
