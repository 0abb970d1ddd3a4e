#pragma once

#include "accounts/state_store.hpp"
#include "common/core/awaitable.hpp"

#include "common/core/secret.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::accounts {

struct api_key
{
    key_id id;
    std::string label;
    std::string prefix;
    time_point created_at;
    std::optional<time_point> last_used_at;
    // 1 for the account's oldest live key. Keys past the plan's number stay, inactive.
    int position = 0;
};

struct created_key
{
    api_key record;
    secret key; // never to be had again
};

// Whose key it is, and what decides whether it opens anything.
struct key_owner
{
    key_id key;
    int position = 0;
    plans::account_state account;
};

// Answer to a look-up: the owner, absent for an unknown or revoked key, and the version of
// accounts.changes the answer is as new as.
struct key_lookup
{
    std::int64_t version = 0;
    std::optional<key_owner> owner;
};

// Which accounts changed, in themselves or in their keys, after a version.
struct change_set
{
    std::int64_t version = 0;
    std::vector<account_id> accounts;
    bool is_complete = true; // false: too many to name
};

// Whether the plan's number of keys binds: the operator may make keys for a plan without API
// access, which wait inactive for one that has it.
enum class key_allowance { plan, operator_made };

// API keys at rest, as digests. Creation and revocation are ordered by accounts.changes, so a
// reader of it sees both at once.
class key_store
{
public:
    explicit key_store(postgres::pool& db);

    // permission_denied once the plan's number is reached, not_found for an unknown account. An
    // earlier key of that id ends: the answer that told it was lost.
    awaitable<result<created_key>> create(account_id account, key_id id, std::string label,
                                          key_allowance allowance);
    // Live keys, oldest first.
    awaitable<result<std::vector<api_key>>> list(account_id account);
    // not_found for an unknown, revoked or foreign key.
    awaitable<result<void>> revoke(account_id account, key_id key);
    // The account of a key, for the operator, who may name a key alone.
    awaitable<result<account_id>> find_account(key_id key);

    // One statement, so that version and owner belong together.
    awaitable<key_lookup> find_by_digest(std::string digest);
    // Without an earlier version only the present one is read.
    awaitable<change_set> read_changes(std::optional<std::int64_t> after);

    struct use
    {
        account_id account;
        key_id key;
        time_point at;
    };
    // Keeps the latest time of each key.
    awaitable<void> record_uses(std::vector<use> uses);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::accounts
