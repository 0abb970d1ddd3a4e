#include "mailbox/end_notice_repository.hpp"

#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/renewal.hpp"

namespace tempinbox::mailbox {
namespace {

using postgres::column;

// Begins with logins and subdomains, which are few: most inboxes that end soon have neither. OFFSET
// 0 keeps the look-ups of their rows from becoming joins over all inboxes and addresses: each is
// one index probe. $1: the limit. Who claims the same notice at once waits, and then finds that it
// is claimed. What was claimed before and not settled, as by a relay that refuses the address,
// comes after the rest, and four times later each time.
const std::string claim_due_sql = R"(
    WITH relied_on AS (
        SELECT l.account_id, l.inbox_id FROM mailbox.capture_logins AS l
        WHERE l.revoked_at IS NULL AND l.last_used_at > now() - interval '7 days'
        UNION
        SELECT i.account_id, i.inbox_id
        FROM mailbox.subdomains AS s
            CROSS JOIN LATERAL (
                SELECT owner.account_id, owner.inbox_id FROM mailbox.addresses AS owner
                WHERE owner.address = '*@' || s.domain AND owner.state = 'live' OFFSET 0) AS a
            CROSS JOIN LATERAL (
                SELECT own.* FROM mailbox.inboxes AS own
                WHERE own.account_id = a.account_id AND own.inbox_id = a.inbox_id OFFSET 0) AS i
        WHERE s.live_inboxes > 0 AND i.last_email_at > now() - interval '7 days'),
    due AS MATERIALIZED (
        SELECT i.account_id, i.inbox_id, i.email_address, i.expires_at, period.days,
            coalesce(n.claims, 0) AS claims
        FROM relied_on AS r
            CROSS JOIN LATERAL (
                SELECT own.* FROM mailbox.inboxes AS own
                WHERE own.account_id = r.account_id AND own.inbox_id = r.inbox_id
                    AND own.is_live AND own.expires_at > now() OFFSET 0) AS i
            CROSS JOIN LATERAL (
                SELECT min(d.days) AS days FROM (VALUES (1), (3)) AS d (days)
                WHERE i.expires_at <= now() + make_interval(days => d.days)) AS period
            LEFT JOIN LATERAL (
                SELECT own.due_at, own.claims FROM mailbox.end_notices AS own
                WHERE own.account_id = i.account_id AND own.inbox_id = i.inbox_id
                    AND own.days = period.days AND own.expires_at = i.expires_at OFFSET 0) AS n
                ON true
        WHERE )" + std::string(ttl_of_inbox) +
                                  R"( >= 2 * 86400 * period.days
            AND (n.due_at IS NULL OR n.due_at <= now())
        ORDER BY coalesce(n.claims, 0), i.expires_at LIMIT $1::bigint),
    claimed AS (
        INSERT INTO mailbox.end_notices AS n (
            account_id, inbox_id, days, notice_id, expires_at, due_at, claims)
        SELECT account_id, inbox_id, days, gen_random_uuid(), expires_at,
               now() + interval '5 minutes' * 4 ^ least(claims, 4), claims + 1
        FROM due ORDER BY account_id, inbox_id
        ON CONFLICT (account_id, inbox_id, days) DO UPDATE
            SET notice_id = CASE WHEN n.expires_at = excluded.expires_at THEN n.notice_id
                                 ELSE excluded.notice_id END,
                expires_at = excluded.expires_at, due_at = excluded.due_at,
                claims = excluded.claims
            WHERE n.expires_at <> excluded.expires_at OR n.due_at <= now()
        RETURNING n.account_id, n.inbox_id, n.notice_id)
    SELECT c.notice_id, c.account_id, c.inbox_id, d.email_address, d.days,
           mailbox.to_micros(d.expires_at) AS expires_micros,
           EXISTS (SELECT 1 FROM mailbox.capture_logins AS l
                   WHERE l.account_id = c.account_id AND l.inbox_id = c.inbox_id
                       AND l.revoked_at IS NULL) AS has_login
    FROM claimed AS c JOIN due AS d ON d.account_id = c.account_id AND d.inbox_id = c.inbox_id
    ORDER BY d.expires_at)";
const postgres::statement claim_due{"mailbox_claim_end_notices", claim_due_sql.c_str()};

constexpr postgres::statement settle_claimed{"mailbox_settle_end_notice", R"(
    UPDATE mailbox.end_notices SET due_at = 'infinity'
    WHERE account_id = $1 AND inbox_id = $2 AND notice_id = $3::uuid)"};

} // namespace

end_notice_repository::end_notice_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {claim_due, settle_claimed})
        db_.prepare(statement);
}

awaitable<std::vector<end_notice>> end_notice_repository::claim(int limit)
{
    return db_.transact([limit](pqxx::work& tx) {
        std::vector<end_notice> claimed;
        for (const auto& row : postgres::exec_prepared(tx, claim_due.name, limit)) {
            auto& notice = claimed.emplace_back();
            notice.id = column<uuid>(row, "notice_id");
            notice.account = column<account_id>(row, "account_id");
            notice.inbox = column<inbox_id>(row, "inbox_id");
            notice.address = column<std::string>(row, "email_address");
            notice.expires_at = column<time_point>(row, "expires_micros");
            notice.days = column<int>(row, "days");
            notice.has_login = column<bool>(row, "has_login");
        }
        return claimed;
    });
}

awaitable<void> end_notice_repository::settle(account_id account, inbox_id inbox, uuid notice)
{
    return db_.transact([account, inbox, notice](pqxx::work& tx) {
        postgres::exec_prepared0(tx, settle_claimed.name, account.text(), inbox.text(),
                                 notice.text());
    });
}

} // namespace tempinbox::mailbox
