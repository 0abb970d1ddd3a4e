#include "mailbox/login_creation.hpp"

#include "common/credentials/capture_login.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

#include <string>

namespace tempinbox::mailbox {
namespace {

using postgres::column;
using postgres::read_column;

constexpr postgres::statement count_live{"mailbox_count_logins", R"(
    SELECT count(*) AS count FROM mailbox.capture_logins
    WHERE account_id = $1 AND revoked_at IS NULL)"};

constexpr postgres::statement insert{"mailbox_insert_login", R"(
    INSERT INTO mailbox.capture_logins AS l (
        account_id, login_id, inbox_id, login, secret_sha256, version)
    VALUES ($1, $2, $3, $4, $5, mailbox.next_capture_version())
    RETURNING l.login, mailbox.to_micros(l.created_at) AS created_micros,
        mailbox.to_micros(l.last_used_at) AS last_used_micros,
        mailbox.to_micros(l.previous_until) AS previous_micros)"};

constexpr postgres::statement replace{"mailbox_replace_password", R"(
    WITH next AS (
        UPDATE mailbox.capture_changes SET version = version + 1
        WHERE EXISTS (SELECT 1 FROM mailbox.capture_logins AS l
                      WHERE l.account_id = $1 AND l.login_id = $2 AND l.revoked_at IS NULL)
        RETURNING version)
    UPDATE mailbox.capture_logins AS l
    SET secret_sha256 = $3, previous_sha256 = NULL, previous_until = NULL, version = next.version
    FROM next WHERE l.account_id = $1 AND l.login_id = $2 AND l.revoked_at IS NULL)"};

} // namespace

std::vector<postgres::statement> login_statements()
{
    return {count_live, insert, replace};
}

std::int64_t count_logins(pqxx::work& tx, account_id account)
{
    return column<std::int64_t>(postgres::exec_prepared1(tx, count_live.name, account.text()),
                                "count");
}

result<void> check_capture_limit(const plans::account_state& account, std::int64_t live_logins,
                                 time_point now)
{
    const auto plan = account.plan_at(now);
    const auto captures = account.limits_at(now).captures.value_or(0);
    if (live_logins < captures)
        return {};
    if (captures == 0)
        return failure{errc::permission_denied,
                       "Inboxes with a login are not part of the plan " + plan,
                       error_reason::plan_required};
    return failure{errc::permission_denied,
                   "The plan " + plan + " has " + std::to_string(captures) +
                       (captures == 1 ? " inbox" : " inboxes") +
                       " with a login, all in use; DELETE /v1/inboxes/{inboxId}/capture ends one",
                   error_reason::capture_limit};
}

capture_login insert_login(pqxx::work& tx, account_id account, inbox_id inbox,
                           const new_login& login)
{
    return read_login(postgres::exec_prepared1(tx, insert.name, account.text(), login.id.text(),
                                               inbox.text(), credentials::make_capture_user(),
                                               pqxx::binarystring(login.password_sha256)));
}

bool replace_password(pqxx::work& tx, account_id account, const new_login& login)
{
    return postgres::exec_prepared(tx, replace.name, account.text(), login.id.text(),
                                   pqxx::binarystring(login.password_sha256))
               .affected_rows() > 0;
}

capture_login read_login(const pqxx::row& row)
{
    capture_login login;
    read_column(row, "login", login.user);
    read_column(row, "created_micros", login.created_at);
    read_column(row, "last_used_micros", login.last_used_at);
    read_column(row, "previous_micros", login.previous_until);
    return login;
}

} // namespace tempinbox::mailbox
