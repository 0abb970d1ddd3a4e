#pragma once

#include "accounts/key_store.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "common/runtime/repeated_task.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tempinbox::gateway {

// Whose an API key is, from memory. Reads accounts.changes every 300 ms and forgets what changed; an entry is used only while the
// last successful read began less than 900 ms ago, else the key is looked up. So a revocation is in force within 1 s, and with
// PostgreSQL away `find` throws dependency_error rather than give an old yes. Bounded; runs on the loop.
class key_cache
{
public:
    using owner = std::shared_ptr<const accounts::key_owner>;

    key_cache(runtime::host& host, accounts::key_store& keys);
    key_cache(const key_cache&) = delete;

    // Begins to read changes.
    void start() { reader_.start(); }
    // Lets a read under way finish.
    awaitable<void> stop() { return reader_.stop(); }

    // Null for a key that is unknown or revoked.
    awaitable<owner> find(std::string digest);

private:
    struct lookup;

    awaitable<std::chrono::microseconds> read_changes();
    void forget(const accounts::change_set& changes);
    bool is_fresh() const;
    std::shared_ptr<lookup> join_lookup(const std::string& digest);
    awaitable<void> look_up(std::shared_ptr<lookup> entry, std::string digest);
    void remember(const std::string& digest, const owner& found, std::int64_t version);

    runtime::host& host_;
    accounts::key_store& keys_;
    std::optional<std::int64_t> version_; // of accounts.changes, as last read
    std::chrono::steady_clock::time_point read_at_{};
    std::unordered_map<std::string, owner> known_;
    std::unordered_map<account_id, std::vector<std::string>> digests_of_; // of the known ones
    std::unordered_set<std::string> unknown_;
    std::unordered_map<std::string, std::shared_ptr<lookup>> under_way_;
    prometheus::Counter& lookups_;
    prometheus::Counter& failed_reads_;
    prometheus::Gauge& known_version_;
    runtime::repeated_task reader_;
};

} // namespace tempinbox::gateway
