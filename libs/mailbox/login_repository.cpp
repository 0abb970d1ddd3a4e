#include "mailbox/login_repository.hpp"

#include "common/credentials/read_changes.hpp"
#include "common/crypto/digest.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/account_lock.hpp"
#include "mailbox/login_creation.hpp"
#include "mailbox/renewal.hpp"
#include "mailbox/retention.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tempinbox::mailbox {
namespace {

using postgres::column;
using postgres::read_column;
using postgres::run_autocommit; // reads need no transaction: each statement has its own snapshot

// Its end waits until the login is there, and ends it.
constexpr postgres::statement lock_live_inbox{"mailbox_lock_inbox_for_login", R"(
    SELECT EXISTS (
        SELECT 1 FROM mailbox.capture_logins AS l
        WHERE l.account_id = i.account_id AND l.inbox_id = i.inbox_id AND l.revoked_at IS NULL)
        AS has_login
    FROM mailbox.inboxes AS i
    WHERE i.account_id = $1 AND i.inbox_id = $2 AND i.is_live AND i.expires_at > now()
    FOR NO KEY UPDATE)"};

constexpr postgres::statement find_live{"mailbox_find_login_of_inbox", R"(
    SELECT l.login, mailbox.to_micros(l.created_at) AS created_micros,
        mailbox.to_micros(l.last_used_at) AS last_used_micros,
        mailbox.to_micros(l.previous_until) AS previous_micros
    FROM mailbox.capture_logins AS l
    WHERE l.account_id = $1 AND l.inbox_id = $2 AND l.revoked_at IS NULL)"};

// A statement that changes the login of a live inbox. It takes the next version only if there is
// such a login.
std::string changing(const std::string& assignments)
{
    return R"(
    WITH target AS (
        SELECT l.account_id, l.login_id
        FROM mailbox.capture_logins AS l
            JOIN mailbox.inboxes AS i ON i.account_id = l.account_id AND i.inbox_id = l.inbox_id
        WHERE l.account_id = $1 AND l.inbox_id = $2 AND l.revoked_at IS NULL
            AND i.is_live AND i.expires_at > now()),
    next AS (
        UPDATE mailbox.capture_changes SET version = version + 1
        WHERE EXISTS (SELECT 1 FROM target) RETURNING version)
    UPDATE mailbox.capture_logins AS l SET version = next.version, )" +
           assignments + R"(
    FROM target, next
    WHERE l.account_id = target.account_id AND l.login_id = target.login_id
        AND l.revoked_at IS NULL
    RETURNING l.login, mailbox.to_micros(l.created_at) AS created_micros,
        mailbox.to_micros(l.last_used_at) AS last_used_micros,
        mailbox.to_micros(l.previous_until) AS previous_micros)";
}

// $3 the rotation, $4 the digest, $5 seconds of grace.
const std::string rotate_sql = changing(R"(secret_sha256 = $4, rotation_id = $3,
        previous_sha256 = CASE WHEN l.rotation_id = $3 THEN l.previous_sha256
                               WHEN $5::bigint > 0 THEN l.secret_sha256 END,
        previous_until = CASE WHEN l.rotation_id = $3 THEN l.previous_until
                              WHEN $5::bigint > 0
                                  THEN clock_timestamp() + make_interval(secs => $5::bigint) END)");
const postgres::statement rotate_password{"mailbox_rotate_password", rotate_sql.c_str()};

const std::string revoke_sql = changing("revoked_at = clock_timestamp()");
const postgres::statement revoke{"mailbox_revoke_login", revoke_sql.c_str()};

// The join to the single row of capture_changes returns a row even if there is no such login. Older
// logins of inboxes that are due count until these are marked as ended.
const std::string find_login_sql = R"(
    SELECT c.version AS changes_version, l.account_id, l.inbox_id, l.login, l.secret_sha256,
        l.previous_sha256, mailbox.to_micros(l.previous_until) AS previous_micros,
        i.email_address, mailbox.to_micros(i.expires_at) AS expires_micros,
        CASE WHEN i.renews_on_use THEN )" +
                                   std::string(ttl_of_inbox) + R"( END AS renewed_seconds,
        s.state, older.position
    FROM mailbox.capture_changes AS c
        LEFT JOIN (mailbox.capture_logins AS l
                   JOIN mailbox.inboxes AS i
                       ON i.account_id = l.account_id AND i.inbox_id = l.inbox_id
                           AND i.is_live AND i.expires_at > now()
                   LEFT JOIN mailbox.account_states AS s ON s.account_id = l.account_id)
            ON l.login = $1 AND l.revoked_at IS NULL
        LEFT JOIN LATERAL (
            SELECT count(*) AS position FROM mailbox.capture_logins AS o
            WHERE o.account_id = l.account_id AND o.revoked_at IS NULL
                AND (o.created_at, o.login_id) <= (l.created_at, l.login_id)) AS older ON true)";
const postgres::statement find_login{"mailbox_find_login", find_login_sql.c_str()};

constexpr postgres::statement read_version{"mailbox_read_capture_version",
                                           "SELECT version FROM mailbox.capture_changes"};
constexpr postgres::statement list_changed{"mailbox_list_changed_logins", R"(
    SELECT DISTINCT account_id FROM mailbox.capture_logins WHERE version > $1 LIMIT $2)"};

// In the order of the logins, so that two processes that record at once cannot deadlock.
constexpr postgres::statement record_login_uses{"mailbox_record_login_uses", R"(
    WITH used AS (
        SELECT l.account_id, l.login_id, u.micros
        FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS u (account_id, login, micros)
            JOIN mailbox.capture_logins AS l ON l.account_id = u.account_id AND l.login = u.login
        ORDER BY l.account_id, l.login_id FOR UPDATE OF l)
    UPDATE mailbox.capture_logins AS l
    SET last_used_at = greatest(l.last_used_at, mailbox.from_micros(used.micros))
    FROM used WHERE l.account_id = used.account_id AND l.login_id = used.login_id)"};

failure has_no_login(inbox_id inbox)
{
    return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist or has no login"};
}

plans::account_state read_state(const pqxx::row& row, account_id account)
{
    plans::account_state unknown;
    unknown.account = account;
    if (row["state"].is_null())
        return unknown;
    accounts::v1::AccountState message;
    if (!message.ParseFromString(postgres::bytes_of(row["state"])))
        throw std::runtime_error("state of account " + account.text() + " cannot be read");
    return plans::from_proto(message).value();
}

std::optional<std::string> read_bytes(const pqxx::field& field)
{
    if (field.is_null())
        return std::nullopt;
    return postgres::bytes_of(field);
}

login_owner read_owner(const pqxx::row& row, account_id account)
{
    login_owner owner;
    read_column(row, "login", owner.user);
    read_column(row, "inbox_id", owner.inbox);
    read_column(row, "email_address", owner.address);
    read_column(row, "expires_micros", owner.expires_at);
    owner.account = read_state(row, account);
    if (const auto seconds = column<std::optional<std::int64_t>>(row, "renewed_seconds"))
        owner.renewed_ttl = std::chrono::seconds(*seconds);
    read_column(row, "position", owner.position);
    owner.password_sha256 = postgres::bytes_of(row["secret_sha256"]);
    owner.previous_sha256 = read_bytes(row["previous_sha256"]);
    read_column(row, "previous_micros", owner.previous_until);
    return owner;
}

result<capture_login> create_in(pqxx::work& tx, const plans::account_state& known, inbox_id inbox,
                                const new_login& login, time_point now)
{
    const auto account = lock_accounts(tx, {known}).at(known.account);
    if (account.is_deleted)
        return failure{errc::permission_denied, "The account was deleted",
                       error_reason::account_deleted};
    const auto inboxes =
        postgres::exec_prepared(tx, lock_live_inbox.name, account.account.text(), inbox.text());
    if (inboxes.empty())
        return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};
    if (column<bool>(inboxes[0], "has_login")) {
        if (!replace_password(tx, account.account, login))
            return failure{errc::conflict, "Inbox " + inbox.text() + " has a login",
                           error_reason::capture_exists};
        return read_login(
            postgres::exec_prepared1(tx, find_live.name, account.account.text(), inbox.text()));
    }
    if (const auto allowed = check_capture_limit(account, count_logins(tx, account.account), now);
        !allowed)
        return allowed.error();
    write_capture_retention(tx, account.account, inbox);
    if (renews_inboxes(account.limits_at(now)))
        write_capture_renewal(tx, account.account, inbox);
    return insert_login(tx, account.account, inbox, login);
}

} // namespace

bool login_owner::is_password(std::string_view digest, time_point now) const
{
    const bool is_current = crypto::equal_constant_time(digest, password_sha256);
    const bool is_previous =
        crypto::equal_constant_time(digest, previous_sha256.value_or(password_sha256)) &&
        previous_until && now < *previous_until;
    return is_current || is_previous;
}

bool login_owner::is_renewal_due(time_point now) const
{
    const auto& limits = account.limits_at(now);
    if (!renewed_ttl || !renews_inboxes(limits))
        return false;
    const std::chrono::microseconds ttl = std::min(*renewed_ttl, limits.max_ttl);
    return expires_at - now <= ttl / 10 * 9;
}

login_repository::login_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statements :
         {login_statements(), retention_statements(), renewal_statements()})
        for (const auto& statement : statements)
            db_.prepare(statement);
    for (const auto& statement :
         {lock_account_states, lock_live_inbox, find_live, rotate_password, revoke, find_login,
          read_version, list_changed, record_login_uses})
        db_.prepare(statement);
}

awaitable<result<capture_login>> login_repository::create(plans::account_state account,
                                                          inbox_id inbox, new_login login,
                                                          time_point now)
{
    return db_.transact([account = std::move(account), inbox, login = std::move(login), now](
                            pqxx::work& tx) { return create_in(tx, account, inbox, login, now); });
}

awaitable<result<capture_login>> login_repository::rotate(account_id account, inbox_id inbox,
                                                          login_rotation rotation)
{
    return db_.transact(
        [account, inbox, rotation = std::move(rotation)](pqxx::work& tx) -> result<capture_login> {
            const auto rows = postgres::exec_prepared(
                tx, rotate_password.name, account.text(), inbox.text(), rotation.id.text(),
                pqxx::binarystring(rotation.password_sha256),
                static_cast<std::int64_t>(rotation.grace.count()));
            if (rows.empty())
                return has_no_login(inbox);
            return read_login(rows[0]);
        });
}

awaitable<result<void>> login_repository::end(account_id account, inbox_id inbox)
{
    return db_.transact([account, inbox](pqxx::work& tx) -> result<void> {
        if (postgres::exec_prepared(tx, revoke.name, account.text(), inbox.text()).empty())
            return has_no_login(inbox);
        return {};
    });
}

awaitable<login_lookup> login_repository::find_by_user(std::string user)
{
    return run_autocommit<login_lookup>(db_, [user = std::move(user)](pqxx::nontransaction& tx) {
        const auto row = postgres::exec_prepared1(tx, find_login.name, user);
        login_lookup lookup;
        read_column(row, "changes_version", lookup.version);
        if (const auto account = column<std::optional<account_id>>(row, "account_id"))
            lookup.owner = read_owner(row, *account);
        return lookup;
    });
}

awaitable<credentials::change_set> login_repository::read_changes(std::optional<std::int64_t> after)
{
    return credentials::read_changes(db_, read_version, list_changed, after);
}

awaitable<void> login_repository::record_uses(std::vector<use> uses)
{
    std::vector<account_id> accounts;
    std::vector<std::string> users;
    std::vector<std::int64_t> times;
    for (const auto& entry : uses) {
        accounts.push_back(entry.account);
        users.push_back(entry.user);
        times.push_back(to_unix_micros(entry.at));
    }
    return db_.transact([accounts = postgres::to_array(accounts), users = postgres::to_array(users),
                         times = postgres::to_array(times)](pqxx::work& tx) {
        postgres::exec_prepared0(tx, record_login_uses.name, accounts, users, times);
    });
}

} // namespace tempinbox::mailbox
