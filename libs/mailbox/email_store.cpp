#include "mailbox/email_store.hpp"

#include "common/postgres/autocommit.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/compression.hpp"
#include "mailbox/email_list_store.hpp"
#include "mailbox/email_row_store.hpp"

#include <stdexcept>

namespace tempinbox::mailbox {
namespace {

using postgres::run_autocommit; // reads need no transaction: each statement has its own snapshot

constexpr postgres::statement find_email{"mailbox_find_email",
                                         "SELECT * FROM mailbox.find_email($1, $2)"};

constexpr postgres::statement find_size_of{"mailbox_find_email_size", R"(
    SELECT e.size_bytes
    FROM mailbox.emails AS e JOIN mailbox.inboxes AS i ON i.account_id = e.account_id AND i.inbox_id = e.inbox_id
    WHERE e.account_id = $1 AND e.email_id = $2 AND i.is_live AND i.expires_at > now())"};

// Locks the inbox first, as deletions do.
const std::string mark_email_sql = R"(
    WITH counted AS (
        UPDATE mailbox.inboxes SET mail_changes = mail_changes + 1
        WHERE account_id = $1 AND is_live AND expires_at > now()
            AND inbox_id = (SELECT inbox_id FROM mailbox.emails WHERE account_id = $1 AND email_id = $2)
        RETURNING true)
    UPDATE mailbox.emails SET is_read = $3 FROM counted WHERE account_id = $1 AND email_id = $2
    RETURNING )" + std::string(summary_columns);
const postgres::statement mark_email{"mailbox_mark_email", mark_email_sql.c_str()};

std::optional<std::string> read_text(const pqxx::field& field)
{
    if (field.is_null())
        return std::nullopt;
    return field.as<std::string>();
}

// Reads a row of find_email that has a body.
stored_email read_email(const pqxx::row& row)
{
    int at = summary_column_count;
    stored_email email;
    email.summary = read_summary(row);
    email.to_header = from_array(row[at++].c_str());
    email.message_id = read_text(row[at++]);
    email.mail_from = row[at++].as<std::string>();
    email.remote_address = row[at++].as<std::string>();
    email.helo = row[at++].as<std::string>();
    email.tls = read_text(row[at++]);
    email.links = links_from_json(row[at++].c_str());
    email.defects = from_array(row[at++].c_str());
    email.is_to_several_inboxes = row[at++].as<bool>();
    email.inbox_address = row[at++].as<std::string>();
    const pqxx::binarystring frame(row[at]);
    email.raw = decompress(std::string_view(frame.get(), frame.size()));
    return email;
}

failure absent(email_id id)
{
    return failure{errc::not_found, "Email " + id.text() + " does not exist"};
}

} // namespace

email_store::email_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {find_email, find_size_of, mark_email})
        db_.prepare(statement);
    prepare_email_lists(db_);
}

awaitable<result<email_page>> email_store::list(email_query query)
{
    return run_autocommit<result<email_page>>(
        db_,
        [query = std::move(query)](pqxx::nontransaction& tx) { return list_emails(tx, query); });
}

awaitable<result<email_page>> email_store::list(account_id account, inbox_id inbox, int limit,
                                                std::string cursor, std::int64_t after)
{
    email_query query;
    query.account = account;
    query.inbox = inbox;
    query.limit = limit;
    query.cursor = std::move(cursor);
    query.after = after;
    return list(std::move(query));
}

awaitable<result<stored_email>> email_store::find(account_id account, email_id id)
{
    return run_autocommit<result<stored_email>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<stored_email> {
            // One statement can miss a body that is being moved to its new partition; a second
            // finds it.
            for (int attempt = 0; attempt < 2; ++attempt) {
                const auto rows = tx.exec_prepared(find_email.name, account.text(), id.text());
                if (rows.empty())
                    return absent(id);
                if (!rows[0].back().is_null())
                    return read_email(rows[0]);
            }
            throw std::runtime_error("the body of email " + id.text() + " is missing");
        });
}

awaitable<result<std::int64_t>> email_store::find_size(account_id account, email_id id)
{
    return run_autocommit<result<std::int64_t>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<std::int64_t> {
            const auto rows = tx.exec_prepared(find_size_of.name, account.text(), id.text());
            if (rows.empty())
                return absent(id);
            return rows[0][0].as<std::int64_t>();
        });
}

awaitable<result<email_summary>> email_store::mark(account_id account, email_id id, bool is_read)
{
    return db_.transact([account, id, is_read](pqxx::work& tx) -> result<email_summary> {
        const auto rows = tx.exec_prepared(mark_email.name, account.text(), id.text(), is_read);
        if (rows.empty())
            return absent(id);
        return read_summary(rows[0]);
    });
}

} // namespace tempinbox::mailbox
