#include "mailbox/email_removal.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/body_removal.hpp"

#include <map>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

// The lock under which mail-ingest stores too, so that counts and rows agree.
constexpr postgres::statement lock_inbox{"mailbox_lock_inbox_to_empty", R"(
    SELECT last_sequence, mailbox.to_micros(created_at) AS created_micros FROM mailbox.inboxes
    WHERE account_id = $1 AND inbox_id = $2 AND is_live AND expires_at > now() FOR UPDATE)"};

// No email is older than its inbox; ten minutes allow for clocks that differ.
const std::string delete_batch_sql = R"(
    WITH doomed AS MATERIALIZED (
        SELECT email_id FROM mailbox.emails
        WHERE account_id = $1 AND inbox_id = $2 AND sequence <= $3
            AND email_id >= mailbox.lowest_uuid(mailbox.from_micros($4) - interval '10 minutes')
        ORDER BY sequence LIMIT )" + std::to_string(removal_batch_size) +
                                     R"()
    DELETE FROM mailbox.emails AS e USING doomed
    WHERE e.account_id = $1 AND e.email_id = doomed.email_id
        AND e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($4) - interval '10 minutes')
    RETURNING mailbox.to_micros(e.body_hour) AS body_micros, e.body_id, e.is_body_shared,
        e.size_bytes)";
const postgres::statement delete_batch{"mailbox_delete_batch", delete_batch_sql.c_str()};

// $4 emails, $5 bytes, $6 the time before which all are to go.
const std::string delete_oldest_sql = R"(
    WITH oldest AS MATERIALIZED (
        SELECT email_id, received_at, row_number() OVER in_order AS rank,
               sum(size_bytes) OVER in_order - size_bytes AS bytes_before
        FROM (SELECT email_id, sequence, received_at, size_bytes FROM mailbox.emails
              WHERE account_id = $1 AND inbox_id = $2
                  AND email_id >= mailbox.lowest_uuid(
                      mailbox.from_micros($3) - interval '10 minutes')
              ORDER BY sequence LIMIT )" +
                                      std::to_string(removal_batch_size) + R"() AS first
        WINDOW in_order AS (ORDER BY sequence ROWS UNBOUNDED PRECEDING))
    DELETE FROM mailbox.emails AS e USING oldest
    WHERE e.account_id = $1 AND e.email_id = oldest.email_id
        AND e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes')
        AND (oldest.rank <= $4::bigint OR oldest.bytes_before < $5::bigint
             OR oldest.received_at < mailbox.from_micros($6))
    RETURNING mailbox.to_micros(e.body_hour) AS body_micros, e.body_id, e.is_body_shared,
        e.size_bytes)";
const postgres::statement delete_oldest{"mailbox_delete_oldest", delete_oldest_sql.c_str()};

constexpr postgres::statement find_oldest{"mailbox_find_oldest_email", R"(
    SELECT mailbox.to_micros(received_at) AS received_micros FROM mailbox.emails
    WHERE account_id = $1 AND inbox_id = $2
        AND email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes')
    ORDER BY sequence LIMIT 1)"};

constexpr postgres::statement delete_emails{"mailbox_delete_named_emails", R"(
    SELECT body_micros, body_id, is_body_shared, ordinal FROM mailbox.delete_emails($1, $2))"};

constexpr postgres::statement count_down{"mailbox_count_down", R"(
    UPDATE mailbox.inboxes
    SET email_count = greatest(0, email_count - $3), email_bytes = greatest(0, email_bytes - $4),
        mail_changes = mail_changes + 1
    WHERE account_id = $1 AND inbox_id = $2)"};

// Updates the counts and deletes the bodies after emails were deleted.
void finish_removal(pqxx::work& tx, account_id account, const std::string& inbox,
                    const pqxx::result& deleted)
{
    std::int64_t bytes = 0;
    for (const auto& row : deleted)
        bytes += column<std::int64_t>(row, "size_bytes");
    postgres::exec_prepared0(tx, count_down.name, account.text(), inbox,
                             static_cast<std::int64_t>(deleted.size()), bytes);
    remove_bodies(tx, read_left_bodies(deleted));
}

} // namespace

failure email_does_not_exist(email_id id)
{
    return failure{errc::not_found, "Email " + id.text() + " does not exist"};
}

std::vector<postgres::statement> removal_statements()
{
    return {lock_inbox, delete_batch, delete_oldest, find_oldest, delete_emails, count_down};
}

result<removed_mail> remove_emails(pqxx::work& tx, account_id account, inbox_id inbox,
                                   std::optional<std::int64_t> up_to)
{
    const auto locked = postgres::exec_prepared(tx, lock_inbox.name, account.text(), inbox.text());
    if (locked.empty())
        return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};
    removed_mail removed;
    removed.last_sequence = column<std::int64_t>(locked[0], "last_sequence");
    const auto deleted = postgres::exec_prepared(
        tx, delete_batch.name, account.text(), inbox.text(), up_to.value_or(removed.last_sequence),
        column<std::int64_t>(locked[0], "created_micros"));
    removed.emails = static_cast<std::int64_t>(deleted.size());
    removed.is_full = removed.emails == removal_batch_size;
    if (!deleted.empty())
        finish_removal(tx, account, inbox.text(), deleted);
    return removed;
}

std::int64_t remove_oldest_emails(pqxx::work& tx, const locked_inbox& inbox, const excess& over)
{
    const auto deleted =
        postgres::exec_prepared(tx, delete_oldest.name, inbox.account.text(), inbox.id.text(),
                                inbox.created_micros, over.emails, over.bytes, over.before_micros);
    if (!deleted.empty())
        finish_removal(tx, inbox.account, inbox.id.text(), deleted);
    return static_cast<std::int64_t>(deleted.size());
}

std::optional<std::int64_t> find_oldest_email(pqxx::work& tx, const locked_inbox& inbox)
{
    const auto rows = postgres::exec_prepared(tx, find_oldest.name, inbox.account.text(),
                                              inbox.id.text(), inbox.created_micros);
    if (rows.empty())
        return std::nullopt;
    return column<std::int64_t>(rows[0], "received_micros");
}

std::vector<result<void>> remove_emails(pqxx::work& tx,
                                        const std::vector<std::pair<account_id, email_id>>& emails)
{
    std::vector<result<void>> removed;
    std::vector<std::pair<account_id, email_id>> once;
    std::map<std::pair<account_id, email_id>, std::size_t> first; // the others find it gone
    removed.reserve(emails.size());
    for (const auto& name : emails) {
        if (first.emplace(name, removed.size()).second)
            once.push_back(name);
        removed.emplace_back(email_does_not_exist(name.second));
    }
    const auto [accounts, ids] = postgres::to_arrays(once);
    const auto deleted = postgres::exec_prepared(tx, delete_emails.name, accounts, ids);
    for (const auto& row : deleted)
        removed[first.at(once.at(column<std::size_t>(row, "ordinal") - 1))] = result<void>();
    if (!deleted.empty())
        remove_bodies(tx, read_left_bodies(deleted));
    return removed;
}

} // namespace tempinbox::mailbox
