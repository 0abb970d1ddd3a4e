#pragma once

#include "accounts/key_store.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "common/runtime/periodic_task.hpp"
#include "gateway/quota/lookup_limiter.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tempinbox::gateway {

// Which keys or sessions may be looked up in PostgreSQL for who asks.
enum class lookups {
    all,
    seen_good // only those that this gateway has seen good before
};

// Whose a key is: null for one that is unknown or revoked.
struct key_result
{
    std::shared_ptr<const accounts::key_owner> owner;
    bool was_looked_up = false;
};

// Whose an API key is, from memory. Reads accounts.changes every 300 ms and drops what changed; an
// entry is used only while the last successful read began less than 900 ms ago, else the key is
// looked up. So a revocation is in force within 1 s, and with PostgreSQL away `find` throws
// dependency_error rather than give an old yes. A key that was never seen good is looked up through
// the limiter: strangers' keys never keep good ones waiting. Bounded; runs on the loop.
class key_cache
{
public:
    using owner = std::shared_ptr<const accounts::key_owner>;

    // `changes` is read on a connection that nothing else waits for, or the entries would age while
    // others are served.
    key_cache(runtime::host& host, accounts::key_store& keys, accounts::key_store& changes,
              lookup_limiter& strangers);
    key_cache(const key_cache&) = delete;

    // Begins to read changes.
    void start() { reader_.start(); }
    // Lets a read under way finish.
    awaitable<void> stop() { return reader_.stop(); }

    // Fails with rate_limited for a key that may not be looked up, with unavailable when too many
    // are.
    awaitable<result<key_result>> find(std::string digest, lookups allowed);

private:
    struct lookup;
    // One that is not current was good when it was last looked up, and is looked up again before it
    // is used.
    struct entry
    {
        owner found;
        bool is_current = true;
    };

    awaitable<std::chrono::microseconds> read_changes();
    void take_changes(const accounts::change_set& changes);
    void evict(const std::string& digest);
    bool is_fresh() const;
    std::shared_ptr<lookup> join_lookup(const std::string& digest, bool is_strange);
    awaitable<void> look_up(std::shared_ptr<lookup> current, std::string digest, bool is_strange);
    awaitable<void> query(lookup& current, const std::string& digest);
    void remember(const std::string& digest, const owner& found, std::int64_t version);

    runtime::host& host_;
    accounts::key_store& keys_;
    accounts::key_store& changes_;
    lookup_limiter& strangers_;
    std::optional<std::int64_t> version_; // of accounts.changes, as last read
    std::chrono::steady_clock::time_point read_at_{};
    std::unordered_map<std::string, entry> cached_;
    std::unordered_map<account_id, std::vector<std::string>> digests_of_; // of the known ones
    std::unordered_set<std::string> unknown_;
    std::unordered_map<std::string, std::shared_ptr<lookup>> in_flight_;
    prometheus::Counter& lookups_;
    prometheus::Counter& failed_reads_;
    prometheus::Gauge& known_version_;
    runtime::periodic_task reader_;
};

} // namespace tempinbox::gateway
