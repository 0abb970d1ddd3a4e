#include "mailbox/retention_repository.hpp"

#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/email_removal.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

// One, so that mail to no other inbox waits.
constexpr postgres::statement claim_full{"mailbox_claim_full", R"(
    SELECT account_id, inbox_id, email_count, email_bytes,
        mailbox.to_micros(created_at) AS created_micros
    FROM mailbox.inboxes WHERE is_live AND needs_trim LIMIT 1 FOR UPDATE SKIP LOCKED)"};

constexpr postgres::statement mark_trimmed{"mailbox_mark_trimmed", R"(
    UPDATE mailbox.inboxes SET needs_trim = false WHERE account_id = $1 AND inbox_id = $2)"};

// The limit is a literal, so that the planner knows it.
constexpr postgres::statement claim_old{"mailbox_claim_old", R"(
    SELECT account_id, inbox_id, mailbox.to_micros(created_at) AS created_micros,
        mailbox.to_micros(now() - make_interval(secs => max_age_seconds)) AS before_micros
    FROM mailbox.inboxes WHERE is_live AND age_due_at <= now()
    ORDER BY age_due_at LIMIT 20 FOR UPDATE SKIP LOCKED)"};

// $3: when the oldest email was received, or NULL.
constexpr postgres::statement set_age_due{"mailbox_set_age_due", R"(
    UPDATE mailbox.inboxes
    SET age_due_at = greatest(
        coalesce(mailbox.from_micros($3::bigint), now())
            + make_interval(secs => max_age_seconds),
        now() + least(interval '1 minute', make_interval(secs => max_age_seconds / 10.0)))
    WHERE account_id = $1 AND inbox_id = $2)"};

// By how much more than eight tenths of the bound is held.
std::int64_t beyond_trimmed(std::int64_t held, std::int64_t bound)
{
    if (bound <= 0)
        return 0;
    return std::max<std::int64_t>(held - (bound / 10 * 8 + bound % 10 * 8 / 10), 0);
}

locked_inbox read_locked(const pqxx::row& row)
{
    return {column<account_id>(row, "account_id"), column<inbox_id>(row, "inbox_id"),
            column<std::int64_t>(row, "created_micros")};
}

retention_batch trim_in(pqxx::work& tx, const inbox_bounds& bounds)
{
    retention_batch batch;
    const auto claimed = postgres::exec_prepared(tx, claim_full.name);
    if (claimed.empty())
        return batch;
    const auto inbox = read_locked(claimed[0]);
    excess over;
    over.emails = beyond_trimmed(column<std::int64_t>(claimed[0], "email_count"), bounds.emails);
    over.bytes = beyond_trimmed(column<std::int64_t>(claimed[0], "email_bytes"), bounds.bytes);
    if (over.emails > 0 || over.bytes > 0)
        batch.emails = remove_oldest_emails(tx, inbox, over);
    if (batch.emails < removal_batch_size)
        postgres::exec_prepared0(tx, mark_trimmed.name, inbox.account.text(), inbox.id.text());
    batch.is_full = true; // there may be another inbox
    return batch;
}

retention_batch delete_old_in(pqxx::work& tx)
{
    retention_batch batch;
    const auto claimed = postgres::exec_prepared(tx, claim_old.name);
    for (const auto& row : claimed) {
        const auto inbox = read_locked(row);
        excess over;
        over.before_micros = column<std::int64_t>(row, "before_micros");
        const auto deleted = remove_oldest_emails(tx, inbox, over);
        batch.emails += deleted;
        batch.is_full = deleted == removal_batch_size || batch.emails >= removal_batch_size;
        if (deleted < removal_batch_size) {
            std::optional<std::string> oldest;
            if (const auto received = find_oldest_email(tx, inbox))
                oldest = std::to_string(*received);
            postgres::exec_prepared0(tx, set_age_due.name, inbox.account.text(), inbox.id.text(),
                                     or_null(oldest));
        }
        if (batch.is_full)
            return batch; // the others are claimed again
    }
    batch.is_full = claimed.size() == 20;
    return batch;
}

} // namespace

retention_repository::retention_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : removal_statements())
        db_.prepare(statement);
    for (const auto& statement : {claim_full, mark_trimmed, claim_old, set_age_due})
        db_.prepare(statement);
}

awaitable<retention_batch> retention_repository::trim(inbox_bounds bounds)
{
    return db_.transact([bounds](pqxx::work& tx) { return trim_in(tx, bounds); });
}

awaitable<retention_batch> retention_repository::delete_old()
{
    return db_.transact([](pqxx::work& tx) { return delete_old_in(tx); });
}

} // namespace tempinbox::mailbox
