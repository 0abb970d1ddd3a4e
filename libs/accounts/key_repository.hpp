#pragma once

#include "accounts/key_access.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/secret.hpp"
#include "common/credentials/change_set.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::accounts {

struct api_key
{
    key_id id;
    std::string label;
    std::string prefix;
    key_access access;
    time_point created_at;
    std::optional<time_point> last_used_at;
    // 1 for the account's oldest key that has not expired. Keys past the plan's limit are kept but
    // inactive.
    int position = 0;
    // Refused until the operator activates it: the database was restored, and the key may have been
    // revoked since.
    bool is_suspended = false;

    // Whether requests with it are served now, under these limits.
    bool is_active(const plans::plan_limits& limits, time_point now) const
    {
        return limits.api_access && position <= limits.api_keys && !is_suspended &&
               !access.has_expired(now);
    }
};

struct created_key
{
    api_key record;
    secret key; // cannot be read again
};

// The owner of a key, and what decides whether the key is accepted.
struct key_owner
{
    key_id key;
    key_access access;
    // Whether Idempotency-Keys of this key are its own; otherwise they are its account's.
    bool has_own_responses = false;
    int position = 0;
    // When an older key expires, so that the position is another one.
    std::optional<time_point> position_ends_at;
    plans::account_state account;

    // No change is published when an older key expires, which may make this one active.
    bool is_as_found(time_point now) const { return !position_ends_at || now < *position_ends_at; }
};

// The version is that of accounts.changes.
using key_lookup = credentials::owner_lookup<key_owner>;
using credentials::change_set;

// Whether the plan's limit on keys applies. The operator may create keys on a plan without API
// access; they stay inactive until the account has a plan with it.
enum class key_allowance { plan, operator_made };

// API keys in PostgreSQL, as digests. Creation and revocation both take the next version of
// accounts.changes, so whoever reads that version notices either at once.
class key_repository
{
public:
    explicit key_repository(postgres::pool& db);

    // permission_denied once the plan's limit is reached, not_found for an unknown account,
    // invalid_argument for a label or an access that no key can have. Replaces an earlier key with
    // that id: the response that carried it was lost. Expired keys do not count.
    awaitable<result<created_key>> create(account_id account, key_id id, std::string label,
                                          key_allowance allowance, key_access access = {});
    // Keys that are not revoked, oldest first; an expired one for another 30 days.
    awaitable<result<std::vector<api_key>>> list(account_id account);
    // not_found for an unknown, revoked or foreign key.
    awaitable<result<void>> revoke(account_id account, key_id key);
    // Ends the suspension of a key, which a restore began; without harm for one that is not
    // suspended. not_found for an unknown, revoked or foreign key.
    awaitable<result<void>> activate(account_id account, key_id key);
    // The account of a key, for the operator, who may name a key without its account.
    awaitable<result<account_id>> find_account(key_id key);

    // One statement, so that version and owner are consistent.
    awaitable<key_lookup> find_by_digest(std::string digest);
    // Without `after` only the current version is read.
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
