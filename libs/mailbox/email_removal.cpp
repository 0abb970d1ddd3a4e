#include "mailbox/email_removal.hpp"

#include "mailbox/body_removal.hpp"

namespace tempinbox::mailbox {
namespace {

// The lock under which mail-ingest stores too, so that counts and rows agree.
constexpr postgres::statement lock_inbox{"mailbox_lock_inbox_to_empty", R"(
    SELECT last_sequence, mailbox.to_micros(created_at) FROM mailbox.inboxes
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
    RETURNING mailbox.to_micros(e.body_hour), e.body_id, e.is_body_shared, e.size_bytes)";
const postgres::statement delete_batch{"mailbox_delete_batch", delete_batch_sql.c_str()};

constexpr postgres::statement find_inbox_of{"mailbox_find_inbox_of", R"(
    SELECT inbox_id FROM mailbox.emails WHERE account_id = $1 AND email_id = $2)"};

constexpr postgres::statement delete_one{"mailbox_delete_one_email", R"(
    DELETE FROM mailbox.emails WHERE account_id = $1 AND email_id = $2
    RETURNING mailbox.to_micros(body_hour), body_id, is_body_shared, size_bytes)"};

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
        bytes += row[3].as<std::int64_t>();
    tx.exec_prepared0(count_down.name, account.text(), inbox,
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
    return {lock_inbox, delete_batch, find_inbox_of, delete_one, count_down};
}

result<removed_mail> remove_emails(pqxx::work& tx, account_id account, inbox_id inbox,
                                   std::optional<std::int64_t> up_to)
{
    const auto locked = tx.exec_prepared(lock_inbox.name, account.text(), inbox.text());
    if (locked.empty())
        return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};
    removed_mail removed;
    removed.last_sequence = locked[0][0].as<std::int64_t>();
    const auto deleted =
        tx.exec_prepared(delete_batch.name, account.text(), inbox.text(),
                         up_to.value_or(removed.last_sequence), locked[0][1].as<std::int64_t>());
    removed.emails = static_cast<std::int64_t>(deleted.size());
    removed.is_full = removed.emails == removal_batch_size;
    if (!deleted.empty())
        finish_removal(tx, account, inbox.text(), deleted);
    return removed;
}

result<void> remove_email(pqxx::work& tx, account_id account, email_id email)
{
    const auto found = tx.exec_prepared(find_inbox_of.name, account.text(), email.text());
    if (found.empty())
        return email_does_not_exist(email);
    const auto inbox = found[0][0].as<std::string>();
    if (tx.exec_prepared(lock_inbox.name, account.text(), inbox).empty())
        return email_does_not_exist(email);
    const auto deleted = tx.exec_prepared(delete_one.name, account.text(), email.text());
    if (deleted.empty())
        return email_does_not_exist(email);
    finish_removal(tx, account, inbox, deleted);
    return {};
}

} // namespace tempinbox::mailbox
