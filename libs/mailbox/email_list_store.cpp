#include "mailbox/email_list_store.hpp"

#include "mailbox/columns.hpp"
#include "mailbox/cursor.hpp"
#include "mailbox/email_row_store.hpp"
#include "mailbox/list_version_store.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tempinbox::mailbox {
namespace {

constexpr int max_rows_read = 2'000;
constexpr int rows_per_query = 500;

// Both lists end with the To addresses and whether the email's inbox is live; the list of one inbox
// appends the list version.
const std::string list_one_sql = "SELECT *, true, (SELECT " + std::string(version_column) + R"(
        FROM mailbox.inboxes WHERE account_id = $1 AND inbox_id = $2)
    FROM mailbox.list_emails($1, $2, $3, $4, $5, $6, $7))";
const postgres::statement list_one{"mailbox_list_emails", list_one_sql.c_str()};
constexpr int version_index = summary_column_count + 2;

const std::string list_all_sql =
    "WITH looked AS MATERIALIZED (SELECT" + std::string(summary_columns) + R"(, to_header
        FROM mailbox.emails WHERE account_id = $1 AND email_id < $2 ORDER BY email_id DESC LIMIT $3)
    SELECT looked.*, EXISTS (SELECT 1 FROM mailbox.inboxes AS i WHERE i.account_id = $1 AND i.inbox_id = looked.inbox_id
                                 AND i.is_live AND i.expires_at > now())
    FROM looked ORDER BY email_id DESC)";
const postgres::statement list_all{"mailbox_list_all_emails", list_all_sql.c_str()};

constexpr const char* past_every_id = "ffffffff-ffff-ffff-ffff-ffffffffffff";

std::string text_of(const email_query& query)
{
    const auto scope = query.inbox ? query.inbox->text() + " " + std::to_string(query.after)
                                   : "of " + query.account.text();
    return "emails " + scope + query.filter.text();
}

std::string to_cursor_text(std::int64_t sequence)
{
    return std::to_string(sequence);
}

std::string to_cursor_text(const std::string& id)
{
    return id;
}

failure foreign_cursor()
{
    return failure{errc::invalid_argument, "cursor is not one that this list gave out"};
}

bool passes(const compiled_filter& filter, const email_summary& email, const pqxx::field& to_header)
{
    return filter.is_empty() ||
           filter.matches(filtered_email(email.from, email.from_name, email.rcpt_to,
                                         from_array(to_header.c_str()), email.subject,
                                         !email.codes.empty()));
}

// Fills a page from queries, newest first, until it is full, there are no more rows, or
// max_rows_read were read. `read_rows` returns up to that many rows below a position; `position_of`
// is a row's position.
template <class Position, class ReadRows, class PositionOf>
email_page fill_page(const email_query& query, Position below, ReadRows read_rows,
                     PositionOf position_of)
{
    email_page result_page;
    const auto text = text_of(query);
    const compiled_filter filter(query.filter);
    int rows_read = 0;
    std::int64_t bytes = 0;
    while (true) {
        // Without a filter the first query mostly fills the page: only emails of ended inboxes are
        // skipped.
        const bool is_probably_all = rows_read == 0 && filter.is_empty();
        const int row_limit =
            is_probably_all ? query.limit + 1 : std::min(rows_per_query, max_rows_read - rows_read);
        const pqxx::result rows = read_rows(below, row_limit);
        for (const auto& row : rows) {
            if (row[0].is_null()) // the inbox has no such emails
                return result_page;
            auto email = read_summary(row);
            below = position_of(email);
            const bool lives = row[summary_column_count + 1].as<bool>();
            if (!lives || !passes(filter, email, row[summary_column_count]))
                continue;
            bytes += email.size;
            const bool is_heavy =
                query.max_bytes > 0 && bytes > query.max_bytes && !result_page.items.empty();
            if (is_heavy || static_cast<int>(result_page.items.size()) == query.limit) {
                result_page.next_cursor =
                    make_cursor(text, to_cursor_text(position_of(result_page.items.back())));
                return result_page;
            }
            result_page.items.push_back(std::move(email));
        }
        rows_read += row_limit;
        if (static_cast<int>(rows.size()) < row_limit)
            return result_page;
        if (rows_read >= max_rows_read) {
            result_page.next_cursor = make_cursor(text, to_cursor_text(below));
            return result_page;
        }
    }
}

result<email_page> list_of_inbox(pqxx::transaction_base& tx, const email_query& query)
{
    const auto account = query.account.text(), inbox = query.inbox->text();
    std::int64_t below = std::numeric_limits<std::int64_t>::max();
    if (!query.cursor.empty()) {
        const auto text = read_cursor(query.cursor, text_of(query));
        if (!text)
            return text.error();
        if (std::from_chars(text->data(), text->data() + text->size(), below).ec != std::errc{})
            return foreign_cursor();
    }
    const bool is_filtered = query.filter != email_filter();
    const bool with_codes = query.with_codes || query.filter.has_code;
    bool is_live = true;
    std::string version;
    auto found = fill_page(
        query, below,
        [&](std::int64_t position, int rows) {
            auto emails = tx.exec_prepared(list_one.name, account, inbox, position, query.after,
                                           rows, with_codes, is_filtered);
            is_live = !emails.empty();
            // The version of the first query: later queries may see a newer version, but not an
            // older one.
            if (is_live && version.empty())
                version = emails[0][version_index].c_str();
            return emails;
        },
        [](const email_summary& email) { return email.sequence; });
    if (!is_live)
        return failure{errc::not_found, "Inbox " + inbox + " does not exist"};
    found.version = std::move(version);
    return found;
}

result<email_page> list_of_account(pqxx::transaction_base& tx, const email_query& query)
{
    std::string below = past_every_id;
    if (!query.cursor.empty()) {
        const auto text = read_cursor(query.cursor, text_of(query));
        if (!text)
            return text.error();
        if (!uuid::parse(*text))
            return foreign_cursor();
        below = *text;
    }
    return fill_page(
        query, below,
        [&](const std::string& position, int rows) {
            return tx.exec_prepared(list_all.name, query.account.text(), position, rows);
        },
        [](const email_summary& email) { return email.id.text(); });
}

} // namespace

void prepare_email_lists(postgres::pool& db)
{
    for (const auto& statement : {list_one, list_all})
        db.prepare(statement);
}

result<email_page> list_emails(pqxx::transaction_base& tx, const email_query& query)
{
    return query.inbox ? list_of_inbox(tx, query) : list_of_account(tx, query);
}

} // namespace tempinbox::mailbox
