#include "mailbox/renewal_repository.hpp"

#include "common/plans/account_state_store.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/inbox_row.hpp"
#include "mailbox/renewal.hpp"

#include <cstdint>
#include <map>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

// In the order in which mail-ingest locks inboxes. $3: whether logins were used.
const std::string lock_used_sql = R"(
    SELECT i.account_id, i.inbox_id, )" +
                                  std::string(ttl_of_inbox) + R"( AS ttl_seconds
    FROM unnest($1::uuid[], $2::uuid[]) AS u (account_id, inbox_id)
        JOIN mailbox.inboxes AS i ON i.account_id = u.account_id AND i.inbox_id = u.inbox_id
    WHERE i.is_live AND i.expires_at > now() AND i.renews_on_use
        AND i.expires_at <= now() + make_interval(secs => 0.9 * )" +
                                  std::string(ttl_of_inbox) + R"()
        AND $3::boolean = EXISTS (
            SELECT 1 FROM mailbox.capture_logins AS l
            WHERE l.account_id = i.account_id AND l.inbox_id = i.inbox_id AND l.revoked_at IS NULL)
    ORDER BY i.inbox_id FOR UPDATE OF i)";
const postgres::statement lock_used{"mailbox_lock_used_inboxes", lock_used_sql.c_str()};

// An end never moves to an earlier time. The end of a millisecond, as inboxes are created.
const std::string renew_inboxes_sql = R"(
    UPDATE mailbox.inboxes
    SET expires_at = date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => u.seconds),
        state_version = state_version + 1
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS u (of_account, of_inbox, seconds)
    WHERE account_id = u.of_account AND inbox_id = u.of_inbox
        AND expires_at <= now() + make_interval(secs => 0.9 * u.seconds)
    RETURNING )" + select_list(inbox_columns);
const postgres::statement renew_inboxes{"mailbox_renew_inboxes", renew_inboxes_sql.c_str()};

constexpr postgres::statement renew_addresses{"mailbox_renew_addresses", R"(
    UPDATE mailbox.addresses AS a SET until = i.expires_at
    FROM unnest($1::uuid[], $2::uuid[]) AS u (account_id, inbox_id)
        JOIN mailbox.inboxes AS i ON i.account_id = u.account_id AND i.inbox_id = u.inbox_id
    WHERE a.address = i.email_address AND a.inbox_id = i.inbox_id AND a.state = 'live')"};

// Caches hold the end of a login's inbox.
constexpr postgres::statement note_login_ends{"mailbox_note_login_ends", R"(
    WITH next AS (UPDATE mailbox.capture_changes SET version = version + 1 RETURNING version)
    UPDATE mailbox.capture_logins AS l SET version = next.version
    FROM next, unnest($1::uuid[], $2::uuid[]) AS u (account_id, inbox_id)
    WHERE l.account_id = u.account_id AND l.inbox_id = u.inbox_id AND l.revoked_at IS NULL)"};

using names = std::vector<std::pair<account_id, inbox_id>>;

// What the plans of now renew, and for how long.
struct renewals
{
    names inboxes;
    std::vector<std::int64_t> seconds;
};

renewals allowed_renewals(pqxx::work& tx, const pqxx::result& locked, time_point now)
{
    renewals allowed;
    std::map<account_id, std::optional<plans::account_state>> accounts;
    for (const auto& row : locked) {
        const auto id = column<account_id>(row, "account_id");
        auto known = accounts.find(id);
        if (known == accounts.end())
            known = accounts.emplace(id, plans::find(tx, schema, id)).first;
        const auto& account = known->second;
        if (!account || account->is_deleted || !renews_inboxes(account->limits_at(now)))
            continue;
        allowed.inboxes.emplace_back(id, column<inbox_id>(row, "inbox_id"));
        allowed.seconds.push_back(std::min<std::int64_t>(column<std::int64_t>(row, "ttl_seconds"),
                                                         account->limits_at(now).max_ttl.count()));
    }
    return allowed;
}

renewed_inboxes renew_in(pqxx::work& tx, const names& used, use_kind kind, time_point now,
                         const std::string& outbox_owner)
{
    renewed_inboxes renewed;
    const auto [used_accounts, used_ids] = postgres::to_arrays(used);
    const auto allowed =
        allowed_renewals(tx,
                         postgres::exec_prepared(tx, lock_used.name, used_accounts, used_ids,
                                                 kind == use_kind::login),
                         now);
    if (allowed.inboxes.empty())
        return renewed;
    const auto [accounts, ids] = postgres::to_arrays(allowed.inboxes);
    for (const auto& row : postgres::exec_prepared(tx, renew_inboxes.name, accounts, ids,
                                                   postgres::to_array(allowed.seconds))) {
        renewed.inboxes.push_back(read_inbox(row));
        renewed.events.push_back(make_state_event(renewed.inboxes.back(), now));
    }
    if (renewed.inboxes.empty())
        return renewed;
    postgres::exec_prepared0(tx, renew_addresses.name, accounts, ids);
    outbox::insert(tx, schema, outbox_owner, renewed.events);
    if (kind == use_kind::login)
        postgres::exec_prepared0(tx, note_login_ends.name, accounts, ids);
    return renewed;
}

} // namespace

renewal_repository::renewal_repository(postgres::pool& db, std::string outbox_owner)
    : db_(db),
      outbox_owner_(std::move(outbox_owner))
{
    for (const auto& statement : {lock_used, renew_inboxes, renew_addresses, note_login_ends})
        db_.prepare(statement);
}

awaitable<renewed_inboxes> renewal_repository::renew(std::vector<inbox_use> uses, use_kind kind,
                                                     time_point now)
{
    names used;
    used.reserve(uses.size());
    for (const auto& use : uses)
        used.emplace_back(use.account, use.inbox);
    return db_.transact([used = std::move(used), kind, now, owner = outbox_owner_](pqxx::work& tx) {
        return renew_in(tx, used, kind, now, owner);
    });
}

} // namespace tempinbox::mailbox
