#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/credentials/change_set.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/inbox_creation.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mailbox {

// A live login of a live inbox, with all that decides whether it is accepted.
struct login_owner
{
    std::string user;
    inbox_id inbox;
    std::string address;                             // of the inbox
    time_point expires_at;                           // of the inbox
    std::optional<std::chrono::seconds> renewed_ttl; // of the inbox, if its use moves the end
    plans::account_state account; // without limits, if its state has not come yet
    // 1 for the account's oldest login. Those past the plan's number are kept, but not accepted.
    std::int64_t position = 0;
    std::string password_sha256;
    std::optional<std::string> previous_sha256;
    std::optional<time_point> previous_until;

    // Whether the inbox takes what is sent with this login now. A state from before there were
    // captures ends none.
    bool is_active(time_point now) const
    {
        const auto& captures = account.limits_at(now).captures;
        return !account.is_deleted && now < expires_at && (!captures || position <= *captures);
    }
    bool is_as_found(time_point now) const { return now < expires_at; }
    // Whether a tenth of its life has passed since its end was set.
    bool is_renewal_due(time_point now) const;
    // In constant time.
    bool is_password(std::string_view digest, time_point now) const;
};

// The owner is absent for an unknown or revoked login and for one whose inbox has ended; the
// version is that of mailbox.capture_changes.
using login_lookup = credentials::owner_lookup<login_owner>;

// A rotation that can be repeated by its id.
struct login_rotation
{
    login_id id;
    std::string password_sha256;
    std::chrono::seconds grace{0}; // for which the password before stays good
};

// Logins of capture inboxes, their passwords as SHA-256. Each change takes the next version of
// mailbox.capture_changes, and so does what else ends logins: the end of the inbox, another end of
// it, a changed or deleted account. So whoever reads that version notices each at once. Throws if
// PostgreSQL cannot be reached.
class login_repository
{
public:
    explicit login_repository(postgres::pool& db);

    // not_found unless the inbox is live, conflict if it has a login, permission_denied once the
    // plan's number is reached (exact under any concurrency). A repeat with the same login's id
    // changes the password: the response that carried it was lost.
    awaitable<result<capture_login>> create(plans::account_state account, inbox_id inbox,
                                            new_login login, time_point now);
    // not_found if the inbox has no login. A second rotation ends the grace of the first; a repeat
    // with the same id changes the password alone.
    awaitable<result<capture_login>> rotate(account_id account, inbox_id inbox,
                                            login_rotation rotation);
    // not_found if the inbox has no login.
    awaitable<result<void>> end(account_id account, inbox_id inbox);

    // One statement, so that version and owner are consistent.
    awaitable<login_lookup> find_by_user(std::string user);
    // The accounts with changes to their logins; without `after` only the current version is read.
    awaitable<credentials::change_set> read_changes(std::optional<std::int64_t> after);

    struct use
    {
        account_id account;
        std::string user;
        time_point at;
    };
    // Keeps the latest time of each login. No change: caches keep what they have.
    awaitable<void> record_uses(std::vector<use> uses);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
