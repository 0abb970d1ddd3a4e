#include "mailbox/email_repository.hpp"

#include "common/log/log.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/daily_counts.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/compression.hpp"
#include "mailbox/cursor.hpp"
#include "mailbox/row_columns.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <stdexcept>
#include <type_traits>

namespace tempinbox::mailbox {
namespace {

using postgres::run_autocommit; // reads need no transaction: each statement has its own snapshot

constexpr int max_rows_read = 2'000;
constexpr int rows_per_query = 500;

std::optional<std::string> read_text(const pqxx::field& field)
{
    if (field.is_null())
        return std::nullopt;
    return field.as<std::string>();
}

void read_value(const pqxx::field& value, std::vector<std::string>& texts)
{
    texts = from_array(value.c_str());
}

// NULL if they were not asked for.
void read_value(const pqxx::field& value, std::vector<extract::code>& codes)
{
    if (!value.is_null())
        codes = codes_from_json(value.c_str());
}

template <class T>
void read_value(const pqxx::field& value, T& scalar)
{
    scalar = postgres::column_type<T>::parse(value);
}

// What reads a field's column: SQL over a row of mailbox.emails.
template <class T>
std::string expression_of(const summary_field<T>& field)
{
    if constexpr (std::is_same_v<T, time_point>)
        return "mailbox.to_micros(" + std::string(field.column) + ") AS " + field.column;
    else
        return field.column;
}

// The select list of a summary. Codes are only read on the condition, if one is given.
std::string summary_columns(std::string_view condition_of_codes = "")
{
    std::string list;
    for_each_summary_field([&]<class T>(const summary_field<T>& field) {
        auto expression = expression_of(field);
        if constexpr (std::is_same_v<T, std::vector<extract::code>>)
            if (!condition_of_codes.empty())
                expression = "CASE WHEN " + std::string(condition_of_codes) + " THEN " +
                             field.column + " END AS " + field.column;
        list += (list.empty() ? " " : ", ") + expression;
    });
    return list + " ";
}

email_summary read_summary(const pqxx::row& row)
{
    email_summary found;
    int index = 0;
    for_each_summary_field(
        [&](const auto& field) { read_value(row[index++], found.*field.member); });
    return found;
}

// What find_email returns after the summary; then the body.
constexpr row_column<stored_email> content_columns[] = {
    {"to_header", "to_header",
     [](stored_email& row, const pqxx::field& value) {
         row.to_header = from_array(value.c_str());
     }},
    {"message_id", "message_id",
     [](stored_email& row, const pqxx::field& value) { row.message_id = read_text(value); }},
    {"mail_from", "mail_from",
     [](stored_email& row, const pqxx::field& value) { row.mail_from = value.as<std::string>(); }},
    {"remote_address", "remote_address",
     [](stored_email& row, const pqxx::field& value) {
         row.remote_address = value.as<std::string>();
     }},
    {"helo", "helo",
     [](stored_email& row, const pqxx::field& value) { row.helo = value.as<std::string>(); }},
    {"tls", "tls", [](stored_email& row, const pqxx::field& value) { row.tls = read_text(value); }},
    {"links", "links",
     [](stored_email& row, const pqxx::field& value) {
         row.links = links_from_json(value.c_str());
     }},
    {"defects", "defects",
     [](stored_email& row, const pqxx::field& value) { row.defects = from_array(value.c_str()); }},
    {"is_body_shared", "is_body_shared",
     [](stored_email& row, const pqxx::field& value) {
         row.is_to_several_inboxes = value.as<bool>();
     }},
    {"email_address", "email_address",
     [](stored_email& row, const pqxx::field& value) {
         row.inbox_address = value.as<std::string>();
     }},
    {"body_id", "body_id",
     [](stored_email& row, const pqxx::field& value) { read_value(value, row.body.id); }},
    {"body_micros", "mailbox.to_micros(body_hour)",
     [](stored_email& row, const pqxx::field& value) { read_value(value, row.body.hour); }},
};

const std::string find_email_sql =
    "SELECT" + summary_columns() + "," + select_list(content_columns) + R"(, raw
    FROM mailbox.find_email($1, $2) AS found, LATERAL (SELECT (found.email).*) AS email)";
const postgres::statement find_email{"mailbox_find_email", find_email_sql.c_str()};

const std::string find_emails_sql =
    "SELECT" + summary_columns() + "," + select_list(content_columns) + R"(, ordinal
    FROM mailbox.find_emails($1, $2) AS found, LATERAL (SELECT (found.email).*) AS email)";
const postgres::statement find_all_emails{"mailbox_find_emails", find_emails_sql.c_str()};

constexpr postgres::statement find_all_bodies{"mailbox_find_bodies", R"(
    SELECT body_id, raw FROM mailbox.find_bodies($1, $2))"};

constexpr postgres::statement find_size_of{"mailbox_find_email_size", R"(
    SELECT e.size_bytes
    FROM mailbox.emails AS e
        JOIN mailbox.inboxes AS i ON i.account_id = e.account_id AND i.inbox_id = e.inbox_id
    WHERE e.account_id = $1 AND e.email_id = $2 AND i.is_live AND i.expires_at > now())"};

// The id of an email is the id of its event.
constexpr postgres::statement find_arrival_of{"mailbox_find_email_arrival", R"(
    SELECT e.inbox_id, mailbox.to_micros(e.received_at), e.size_bytes, e.rcpt_to, e.mail_from,
        e.remote_address, e.helo, e.tls,
        (SELECT mailbox.to_micros(o.created_at) FROM mailbox.outbox AS o
         WHERE o.event_id = e.email_id)
    FROM mailbox.emails AS e
        JOIN mailbox.inboxes AS i ON i.account_id = e.account_id AND i.inbox_id = e.inbox_id
    WHERE e.account_id = $1 AND e.email_id = $2 AND i.is_live AND i.expires_at > now())"};

email_arrival read_arrival(const pqxx::row& row)
{
    email_arrival found;
    read_value(row[0], found.inbox);
    read_value(row[1], found.received_at);
    read_value(row[2], found.size);
    read_value(row[3], found.rcpt_to);
    read_value(row[4], found.mail_from);
    read_value(row[5], found.remote_address);
    read_value(row[6], found.helo);
    found.tls = read_text(row[7]);
    read_value(row[8], found.unpublished_since);
    return found;
}

// Locks the inbox first, as deletions do.
const std::string mark_email_sql = R"(
    WITH counted AS (
        UPDATE mailbox.inboxes SET mail_changes = mail_changes + 1
        WHERE account_id = $1 AND is_live AND expires_at > now()
            AND inbox_id = (SELECT inbox_id FROM mailbox.emails
                            WHERE account_id = $1 AND email_id = $2)
        RETURNING true)
    UPDATE mailbox.emails SET is_read = $3 FROM counted WHERE account_id = $1 AND email_id = $2
    RETURNING )" + summary_columns();
const postgres::statement mark_email{"mailbox_mark_email", mark_email_sql.c_str()};

std::string read_body(const pqxx::field& frame)
{
    const pqxx::binarystring bytes(frame);
    return decompress(std::string_view(bytes.get(), bytes.size()));
}

stored_email read_without_body(const pqxx::row& row)
{
    stored_email email;
    email.summary = read_summary(row);
    read_columns(content_columns, email, row, summary_field_count);
    return email;
}

// Reads a row of find_email that has a body.
stored_email read_email(const pqxx::row& row)
{
    auto email = read_without_body(row);
    email.raw = read_body(row.back());
    return email;
}

// Of many rows one that cannot be read fails alone.
result<stored_email> try_reading(const pqxx::row& row)
{
    try {
        return read_without_body(row);
    } catch (const std::exception& error) {
        // The others of the batch are read all the same.
        log::error("an email's row cannot be read", {{"error", error.what()}});
        return failure{errc::internal, "The email cannot be read"};
    }
}

// The caller asks for a message that cannot be read by itself.
std::optional<std::string> try_reading_body(const pqxx::field& frame)
{
    try {
        return read_body(frame);
    } catch (const std::exception&) {
        // The others of the batch are read all the same; reading it by itself reports the error.
        return std::nullopt;
    }
}

// SQL over a row of mailbox.inboxes.
constexpr std::string_view version_column =
    "last_sequence || '-' || email_count || '-' || mail_changes";

// Looks up each inbox by its key: a join may keep a plan made for few inboxes that reads all.
const std::string find_versions_sql =
    "SELECT (SELECT " + std::string(version_column) + R"( FROM mailbox.inboxes AS i
        WHERE i.account_id = asked.account_id AND i.inbox_id = asked.inbox_id
            AND i.is_live AND i.expires_at > now())
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS asked (account_id, inbox_id, ordinal)
    ORDER BY ordinal)";
const postgres::statement find_versions_of{"mailbox_find_list_versions", find_versions_sql.c_str()};

// Both lists end with the To addresses and whether the email's inbox is live; the list of one inbox
// appends the list version.
const std::string list_one_sql = "SELECT" + summary_columns("$6") +
                                 ", CASE WHEN $7 THEN to_header END, true, (SELECT " +
                                 std::string(version_column) + R"(
        FROM mailbox.inboxes WHERE account_id = $1 AND inbox_id = $2)
    FROM mailbox.list_emails($1, $2, $3, $4, $5))";
const postgres::statement list_one{"mailbox_list_emails", list_one_sql.c_str()};
constexpr int version_index = summary_field_count + 2;

const std::string list_all_sql =
    "WITH looked AS MATERIALIZED (SELECT" + summary_columns() + R"(, to_header
        FROM mailbox.emails WHERE account_id = $1 AND email_id < $2
        ORDER BY email_id DESC LIMIT $3)
    SELECT looked.*, EXISTS (
        SELECT 1 FROM mailbox.inboxes AS i
        WHERE i.account_id = $1 AND i.inbox_id = looked.inbox_id
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
            const bool lives = row[summary_field_count + 1].as<bool>();
            if (!lives || !passes(filter, email, row[summary_field_count]))
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

result<email_page> list_emails(pqxx::transaction_base& tx, const email_query& query)
{
    return query.inbox ? list_of_inbox(tx, query) : list_of_account(tx, query);
}

constexpr postgres::statement count_emails{"mailbox_count_emails", R"(
    WITH first AS (SELECT (now() AT TIME ZONE 'UTC')::date - $2::int + 1 AS day),
    counted AS (
        SELECT mailbox.day_of(email_id) AS day, count(*) AS emails FROM mailbox.emails
        WHERE account_id = $1::uuid
            AND email_id >= mailbox.lowest_uuid(
                ((now() AT TIME ZONE 'UTC')::date - $2::int + 1)::timestamp AT TIME ZONE 'UTC')
        GROUP BY 1
        UNION ALL
        SELECT day, emails FROM mailbox.deleted_emails
        WHERE account_id = $1::uuid AND day >= (SELECT day FROM first))
    SELECT day - date '1970-01-01', sum(emails)::bigint FROM counted GROUP BY day ORDER BY day)"};

// A poll from the newest email on needs one row, one for a rare email needs many.
constexpr int rows_in_first_query = 10;

// Replicas' clocks differ by less than ten minutes.
constexpr postgres::statement find_range{"mailbox_find_position", R"(
    SELECT last_sequence, mailbox.lowest_uuid(created_at - interval '10 minutes'),
           mailbox.lowest_uuid(coalesce(last_email_at, created_at) + interval '10 minutes')
    FROM mailbox.inboxes
    WHERE account_id = $1 AND inbox_id = $2 AND is_live AND expires_at > now())"};

// $3, $4: bounds of the inbox's email ids, so that partitions of other days are not read. $6: an
// email that came after find_range is left to the next search.
constexpr postgres::statement read_above{"mailbox_read_emails_above", R"(
    SELECT email_id, sequence, from_address, from_name, rcpt_to, to_header, subject, codes <> '[]'
    FROM mailbox.emails
    WHERE account_id = $1 AND inbox_id = $2 AND email_id >= $3 AND email_id < $4
        AND sequence > $5 AND sequence <= $6
    ORDER BY sequence LIMIT $7)"};

// Looks up each inbox by its key: a join may keep a plan made for few inboxes that reads all.
constexpr postgres::statement read_last_sequences{"mailbox_read_last_sequences", R"(
    SELECT coalesce((SELECT i.last_sequence FROM mailbox.inboxes AS i
                     WHERE i.account_id = asked.account_id AND i.inbox_id = asked.inbox_id
                         AND i.is_live AND i.expires_at > now()), -1)
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS asked (account_id, inbox_id, ordinal)
    ORDER BY ordinal)"};

// The range of an inbox's emails.
struct email_range
{
    std::int64_t last_sequence = 0;
    std::string lowest_id;
    std::string past_id;
};

std::optional<email_range> read_range(pqxx::transaction_base& tx, account_id account,
                                      inbox_id inbox)
{
    const auto rows = tx.exec_prepared(find_range.name, account.text(), inbox.text());
    if (rows.empty())
        return std::nullopt;
    email_range found;
    found.last_sequence = rows[0][0].as<std::int64_t>();
    found.lowest_id = rows[0][1].as<std::string>();
    found.past_id = rows[0][2].as<std::string>();
    return found;
}

examined_email read_examined(const pqxx::row& row)
{
    return {email_id::parse(row[0].c_str()).value(), row[1].as<std::int64_t>(),
            filtered_email(row[2].c_str(), row[3].c_str(), from_array(row[4].c_str()),
                           from_array(row[5].c_str()), row[6].c_str(), row[7].as<bool>())};
}

// Returns the sequence up to which every search has seen all emails.
std::int64_t run_searches(pqxx::transaction_base& tx, account_id account, inbox_id inbox,
                          const email_range& where, std::vector<search_run>& runs)
{
    const auto is_done = [&](const search_run& one) { return one.is_done(where.last_sequence); };
    auto above = where.last_sequence;
    for (const auto& one : runs)
        if (!is_done(one))
            above = std::min(above, one.after());
    int row_limit = 0;
    for (int rows_read = 0; rows_read < max_rows_read; rows_read += row_limit) {
        row_limit = rows_read == 0 ? rows_in_first_query : rows_per_query;
        if (std::all_of(runs.begin(), runs.end(), is_done))
            return above;
        const auto rows =
            tx.exec_prepared(read_above.name, account.text(), inbox.text(), where.lowest_id,
                             where.past_id, above, where.last_sequence, row_limit);
        for (const auto& each : rows) {
            const auto read = read_examined(each);
            for (auto& one : runs)
                one.examine(read);
            above = read.sequence;
        }
        if (static_cast<int>(rows.size()) < row_limit)
            return where.last_sequence;
    }
    return above;
}

} // namespace

email_repository::email_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {find_email, find_all_emails, find_all_bodies, find_size_of,
                                  find_arrival_of, mark_email, list_one, list_all, find_versions_of,
                                  count_emails, find_range, read_above, read_last_sequences})
        db_.prepare(statement);
    for (const auto& statement : removal_statements())
        db_.prepare(statement);
}

awaitable<result<email_page>> email_repository::list(email_query query)
{
    return run_autocommit<result<email_page>>(
        db_,
        [query = std::move(query)](pqxx::nontransaction& tx) { return list_emails(tx, query); });
}

awaitable<result<email_page>> email_repository::list(account_id account, inbox_id inbox, int limit,
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

awaitable<result<stored_email>> email_repository::find(account_id account, email_id id)
{
    return run_autocommit<result<stored_email>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<stored_email> {
            // One statement can miss a body that is being moved to its new partition; a second
            // finds it.
            for (int attempt = 0; attempt < 2; ++attempt) {
                const auto rows = tx.exec_prepared(find_email.name, account.text(), id.text());
                if (rows.empty())
                    return email_does_not_exist(id);
                if (!rows[0].back().is_null())
                    return read_email(rows[0]);
            }
            throw std::runtime_error("the body of email " + id.text() + " is missing");
        });
}

awaitable<std::vector<result<stored_email>>>
email_repository::find_all(std::vector<std::pair<account_id, email_id>> emails)
{
    using found_emails = std::vector<result<stored_email>>;
    return run_autocommit<found_emails>(
        db_, [emails = std::move(emails)](pqxx::nontransaction& tx) {
            found_emails found;
            found.reserve(emails.size());
            for (const auto& [account, id] : emails)
                found.emplace_back(email_does_not_exist(id));
            const auto [accounts, ids] = postgres::to_arrays(emails);
            for (const auto& row : tx.exec_prepared(find_all_emails.name, accounts, ids))
                found.at(row.back().as<std::size_t>() - 1) = try_reading(row);
            return found;
        });
}

awaitable<std::vector<std::optional<std::string>>>
email_repository::read_bodies(std::vector<body_key> bodies)
{
    using found_bodies = std::vector<std::optional<std::string>>;
    return run_autocommit<found_bodies>(
        db_, [bodies = std::move(bodies)](pqxx::nontransaction& tx) {
            std::vector<time_point> hours;
            std::vector<body_id> ids;
            for (const auto& each : bodies) {
                hours.push_back(each.hour);
                ids.push_back(each.id);
            }
            std::map<body_id, std::string> read;
            for (const auto& row : tx.exec_prepared(find_all_bodies.name, postgres::to_array(hours),
                                                    postgres::to_array(ids)))
                if (auto body = try_reading_body(row[1]))
                    read.emplace(body_id::parse(row[0].c_str()).value(), std::move(*body));
            found_bodies found;
            for (const auto& each : bodies) {
                const auto body = read.find(each.id);
                found.push_back(body == read.end() ? std::nullopt : std::optional(body->second));
            }
            return found;
        });
}

awaitable<result<std::int64_t>> email_repository::find_size(account_id account, email_id id)
{
    return run_autocommit<result<std::int64_t>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<std::int64_t> {
            const auto rows = tx.exec_prepared(find_size_of.name, account.text(), id.text());
            if (rows.empty())
                return email_does_not_exist(id);
            return rows[0][0].as<std::int64_t>();
        });
}

awaitable<result<email_arrival>> email_repository::find_arrival(account_id account, email_id id)
{
    return run_autocommit<result<email_arrival>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<email_arrival> {
            const auto rows = tx.exec_prepared(find_arrival_of.name, account.text(), id.text());
            if (rows.empty())
                return email_does_not_exist(id);
            return read_arrival(rows[0]);
        });
}

awaitable<result<email_summary>> email_repository::mark(account_id account, email_id id,
                                                        bool is_read)
{
    return db_.transact([account, id, is_read](pqxx::work& tx) -> result<email_summary> {
        const auto rows = tx.exec_prepared(mark_email.name, account.text(), id.text(), is_read);
        if (rows.empty())
            return email_does_not_exist(id);
        return read_summary(rows[0]);
    });
}

awaitable<std::vector<std::string>>
email_repository::find_versions(std::vector<std::pair<account_id, inbox_id>> inboxes)
{
    return run_autocommit<std::vector<std::string>>(
        db_, [inboxes = std::move(inboxes)](pqxx::nontransaction& tx) {
            const auto [accounts, ids] = postgres::to_arrays(inboxes);
            std::vector<std::string> versions;
            versions.reserve(inboxes.size());
            for (const auto& row : tx.exec_prepared(find_versions_of.name, accounts, ids))
                versions.emplace_back(row[0].c_str()); // empty for NULL
            return versions;
        });
}

awaitable<result<search_results>> email_repository::find_first(account_id account, inbox_id inbox,
                                                               std::vector<email_search> searches)
{
    return run_autocommit<result<search_results>>(
        db_,
        [account, inbox,
         searches = std::move(searches)](pqxx::nontransaction& tx) -> result<search_results> {
            const auto where = read_range(tx, account, inbox);
            if (!where)
                return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};

            std::vector<search_run> runs(searches.begin(), searches.end());
            const auto searched_to = run_searches(tx, account, inbox, *where, runs);
            search_results found;
            found.last_sequence = where->last_sequence;
            for (auto& one : runs) {
                one.searched_up_to(searched_to);
                found.results.push_back(one.take());
            }
            return found;
        });
}

awaitable<std::vector<std::int64_t>>
email_repository::last_sequences(std::vector<std::pair<account_id, inbox_id>> inboxes)
{
    return run_autocommit<std::vector<std::int64_t>>(
        db_, [inboxes = std::move(inboxes)](pqxx::nontransaction& tx) {
            const auto [accounts, ids] = postgres::to_arrays(inboxes);
            std::vector<std::int64_t> sequences;
            sequences.reserve(inboxes.size());
            for (const auto& row : tx.exec_prepared(read_last_sequences.name, accounts, ids))
                sequences.push_back(row[0].as<std::int64_t>());
            return sequences;
        });
}

awaitable<std::vector<daily_count>> email_repository::count_by_day(account_id account, int days)
{
    return postgres::list_daily_counts(db_, count_emails, account, days);
}

awaitable<result<removed_mail>> email_repository::empty_inbox(account_id account, inbox_id inbox,
                                                              std::optional<std::int64_t> up_to)
{
    return db_.transact([account, inbox, up_to](pqxx::work& tx) {
        return remove_emails(tx, account, inbox, up_to);
    });
}

awaitable<result<void>> email_repository::remove(account_id account, email_id email)
{
    return db_.transact(
        [account, email](pqxx::work& tx) { return remove_email(tx, account, email); });
}

} // namespace tempinbox::mailbox
