#pragma once

#include "accounts/idempotency_repository.hpp"
#include "common/core/awaitable.hpp"

#include <chrono>
#include <memory>
#include <unordered_map>

namespace tempinbox::gateway {

// Limits how many Idempotency-Keys of each account are stored at a time, on all replicas
// together: those of the last 24 hours, or of a shorter TTL. The keys are counted in PostgreSQL
// every ten seconds and after every hundredth of the limit; in between this process adds its own.
// One replica alone never passes the limit; several may, by the keys that the others stored since
// the last count. Runs on the loop.
class stored_key_limit
{
public:
    // `max_keys` 0: no limit.
    stored_key_limit(accounts::idempotency_repository& store, std::int64_t max_keys)
        : store_(store),
          max_keys_(max_keys)
    {}
    stored_key_limit(const stored_key_limit&) = delete;

    std::int64_t max_keys() const { return max_keys_; }

    // Holds room for one key until it is known whether it was stored. Must end before the limit.
    class reservation;
    // Null if there is no room. Throws when PostgreSQL cannot be reached.
    awaitable<std::shared_ptr<reservation>> reserve(account_id account);
    // A stored key was deleted.
    void note_dropped(account_id account);

    // How long until an account that is at its limit has room again.
    std::chrono::seconds retry_after(account_id account, time_point now) const;

private:
    using steady = std::chrono::steady_clock;

    struct key_usage
    {
        std::int64_t counted = 0;
        std::optional<time_point> first_end;
        std::optional<steady::time_point> counted_at;
        std::int64_t stored = 0;          // by this process
        std::int64_t stored_at_count = 0; // when it was counted
        std::int64_t reserved = 0;

        std::int64_t since_count() const { return stored - stored_at_count; }
    };

    bool is_to_count(const key_usage& usage) const;
    awaitable<void> count(account_id account, key_usage& usage);
    void evict_stale();

    accounts::idempotency_repository& store_;
    std::int64_t max_keys_;
    std::unordered_map<account_id, key_usage> by_account_;
};

class stored_key_limit::reservation
{
public:
    explicit reservation(key_usage& of_account) : usage_(of_account) { ++usage_.reserved; }
    reservation(const reservation&) = delete;
    ~reservation() { --usage_.reserved; }

    void note_stored() { ++usage_.stored; }

private:
    key_usage& usage_; // is not evicted while something is reserved
};

} // namespace tempinbox::gateway
