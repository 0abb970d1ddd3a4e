#include "mailbox/email_repository.hpp"

#include "common/log/log.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/read_each.hpp"
#include "common/postgres/session.hpp"
#include "common/postgres/transact_each.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/compression.hpp"
#include "mailbox/cursor.hpp"
#include "mailbox/email_counts.hpp"
#include "mailbox/email_search_rows.hpp"
#include "mailbox/email_summary_rows.hpp"
#include "mailbox/row_columns.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <type_traits>

namespace tempinbox::mailbox {
namespace {

using postgres::column;
using postgres::read_column;
using postgres::run_autocommit; // reads need no transaction: each statement has its own snapshot

std::optional<std::string> read_text(const pqxx::field& field)
{
    if (field.is_null())
        return std::nullopt;
    return field.as<std::string>();
}

template <class T>
void read_value(const pqxx::field& value, T& scalar)
{
    scalar = postgres::column_type<T>::parse(value);
}

// What find_email returns after the summary; then the body.
constexpr row_column<stored_email> content_columns[] = {
    {"header_addresses", "header_addresses",
     [](stored_email& row, const pqxx::field& value) {
         if (!value.is_null())
             row.addresses = header_addresses_from_json(value.c_str());
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
    {"login", "login",
     [](stored_email& row, const pqxx::field& value) { row.login = read_text(value); }},
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
    {"body_account", "account_id",
     [](stored_email& row, const pqxx::field& value) { read_value(value, row.body.account); }},
    {"body_id", "body_id",
     [](stored_email& row, const pqxx::field& value) { read_value(value, row.body.id); }},
    {"body_micros", "mailbox.to_micros(body_hour)",
     [](stored_email& row, const pqxx::field& value) { read_value(value, row.body.hour); }},
};

const std::string find_email_sql =
    "SELECT" + summary_columns() + "," + select_list(content_columns) + R"(, raw
    FROM mailbox.find_email($1, $2) AS stored, LATERAL (SELECT (stored.email).*) AS email)";
const postgres::statement find_email{"mailbox_find_email", find_email_sql.c_str()};

const std::string find_emails_sql =
    "SELECT" + summary_columns() + "," + select_list(content_columns) + R"(, ordinal
    FROM mailbox.find_emails($1, $2) AS stored, LATERAL (SELECT (stored.email).*) AS email)";
const postgres::statement find_all_emails{"mailbox_find_emails", find_emails_sql.c_str()};

constexpr postgres::statement find_all_bodies{"mailbox_find_bodies", R"(
    SELECT account_id, body_id, raw FROM mailbox.read_bodies($1, $2, $3))"};

constexpr postgres::statement find_size_of{"mailbox_find_email_size", R"(
    SELECT e.size_bytes
    FROM mailbox.emails AS e
        JOIN mailbox.inboxes AS i ON i.account_id = e.account_id AND i.inbox_id = e.inbox_id
    WHERE e.account_id = $1 AND e.email_id = $2 AND i.is_live AND i.expires_at > now())"};

// The id of an email is the id of its event.
constexpr postgres::statement find_arrival_of{"mailbox_find_email_arrival", R"(
    SELECT e.inbox_id, mailbox.to_micros(e.received_at) AS received_micros, e.size_bytes, e.rcpt_to,
        e.mail_from, e.remote_address, e.helo, e.tls, e.login,
        (SELECT mailbox.to_micros(o.created_at) FROM mailbox.outbox AS o
         WHERE o.event_id = e.email_id AND o.account_id = e.account_id) AS unpublished_micros
    FROM mailbox.emails AS e
        JOIN mailbox.inboxes AS i ON i.account_id = e.account_id AND i.inbox_id = e.inbox_id
    WHERE e.account_id = $1 AND e.email_id = $2 AND i.is_live AND i.expires_at > now())"};

email_arrival read_arrival(const pqxx::row& row)
{
    email_arrival arrival;
    read_column(row, "inbox_id", arrival.inbox);
    read_column(row, "received_micros", arrival.received_at);
    read_column(row, "size_bytes", arrival.size);
    arrival.rcpt_to = from_array(row["rcpt_to"].c_str());
    read_column(row, "mail_from", arrival.mail_from);
    read_column(row, "remote_address", arrival.remote_address);
    read_column(row, "helo", arrival.helo);
    read_column(row, "tls", arrival.tls);
    read_column(row, "login", arrival.login);
    read_column(row, "unpublished_micros", arrival.unpublished_since);
    return arrival;
}

const std::string mark_emails_sql = "SELECT" + summary_columns() + R"(, ordinal
    FROM mailbox.mark_emails($1, $2, $3) AS marked, LATERAL (SELECT (marked.email).*) AS email)";
const postgres::statement mark_emails{"mailbox_mark_emails", mark_emails_sql.c_str()};

std::string read_body(const pqxx::field& frame)
{
    const pqxx::binarystring bytes(frame);
    return decompress(std::string_view(bytes.get(), bytes.size()));
}

stored_email read_without_body(const pqxx::row& row)
{
    stored_email email;
    email.summary = read_summary(row);
    read_columns(content_columns, email, row);
    return email;
}

// Reads a row of find_email that has a body.
stored_email read_email(const pqxx::row& row)
{
    auto email = read_without_body(row);
    email.raw = read_body(row["raw"]);
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

// Looks up each inbox by its key: a join may keep a plan made for few inboxes that reads all.
const std::string find_versions_sql =
    "SELECT (SELECT " + std::string(list_version_column) + R"( FROM mailbox.inboxes AS i
        WHERE i.account_id = requested.account_id AND i.inbox_id = requested.inbox_id
            AND i.is_live AND i.expires_at > now()) AS version
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS requested (account_id, inbox_id, ordinal)
    ORDER BY ordinal)";
const postgres::statement find_versions_of{"mailbox_find_list_versions", find_versions_sql.c_str()};

// Looks up each inbox by its key: a join may keep a plan made for few inboxes that reads all.
constexpr postgres::statement read_last_sequences{"mailbox_read_last_sequences", R"(
    SELECT coalesce((SELECT i.last_sequence FROM mailbox.inboxes AS i
                     WHERE i.account_id = requested.account_id
                         AND i.inbox_id = requested.inbox_id
                         AND i.is_live AND i.expires_at > now()), -1) AS last_sequence
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS requested (account_id, inbox_id, ordinal)
    ORDER BY ordinal)"};

// Marks emails in one statement for each time that one is named: the last mark holds.
std::vector<result<email_summary>> mark_in(pqxx::work& tx, const std::vector<email_mark>& marks)
{
    std::vector<result<email_summary>> marked;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        marked.emplace_back(email_does_not_exist(marks[i].email));
        left.push_back(i);
    }
    while (!left.empty()) {
        std::set<std::pair<account_id, email_id>> seen;
        std::vector<std::size_t> now, later;
        std::vector<std::pair<account_id, email_id>> names;
        std::vector<bool> flags;
        for (const auto index : left) {
            const auto& mark = marks[index];
            const bool is_first = seen.emplace(mark.account, mark.email).second;
            (is_first ? now : later).push_back(index);
            if (!is_first)
                continue;
            names.emplace_back(mark.account, mark.email);
            flags.push_back(mark.is_read);
        }
        const auto [accounts, ids] = postgres::to_arrays(names);
        for (const auto& row : postgres::exec_prepared(tx, mark_emails.name, accounts, ids,
                                                       postgres::to_array(flags)))
            marked[now.at(column<std::size_t>(row, "ordinal") - 1)] = read_summary(row);
        left = std::move(later);
    }
    return marked;
}

using email_names = std::vector<std::pair<account_id, email_id>>;
using found_emails = std::vector<result<stored_email>>;
using found_bodies = std::vector<std::optional<std::string>>;

found_emails find_in(pqxx::nontransaction& tx, const email_names& emails)
{
    found_emails results;
    results.reserve(emails.size());
    for (const auto& [account, id] : emails)
        results.emplace_back(email_does_not_exist(id));
    const auto [accounts, ids] = postgres::to_arrays(emails);
    for (const auto& row : postgres::exec_prepared(tx, find_all_emails.name, accounts, ids))
        results.at(column<std::size_t>(row, "ordinal") - 1) = try_reading(row);
    return results;
}

awaitable<found_bodies> read_together(postgres::pool& db, std::vector<body_key> bodies)
{
    return run_autocommit<found_bodies>(db, [bodies = std::move(bodies)](pqxx::nontransaction& tx) {
        std::vector<account_id> accounts;
        std::vector<time_point> hours;
        std::vector<body_id> ids;
        for (const auto& each : bodies) {
            accounts.push_back(each.account);
            hours.push_back(each.hour);
            ids.push_back(each.id);
        }
        std::map<std::pair<account_id, body_id>, std::string> read;
        for (const auto& row :
             postgres::exec_prepared(tx, find_all_bodies.name, postgres::to_array(accounts),
                                     postgres::to_array(hours), postgres::to_array(ids))) {
            const std::pair name(column<account_id>(row, "account_id"),
                                 column<body_id>(row, "body_id"));
            if (read.contains(name))
                continue; // asked for twice
            if (auto body = try_reading_body(row["raw"]))
                read.emplace(name, std::move(*body));
        }
        found_bodies results;
        for (const auto& each : bodies) {
            const auto body = read.find({each.account, each.id});
            results.push_back(body == read.end() ? std::nullopt : std::optional(body->second));
        }
        return results;
    });
}

} // namespace

email_repository::email_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement :
         {find_email, find_all_emails, find_all_bodies, find_size_of, find_arrival_of, mark_emails,
          find_versions_of, read_last_sequences})
        db_.prepare(statement);
    for (const auto& statement : email_list_statements())
        db_.prepare(statement);
    for (const auto& statement : removal_statements())
        db_.prepare(statement);
    for (const auto& statement : email_search_statements())
        db_.prepare(statement);
    for (const auto& statement : email_count_statements())
        db_.prepare(statement);
}

awaitable<result<email_page>> email_repository::list(email_query query)
{
    std::vector<email_query> queries;
    queries.push_back(std::move(query));
    auto listed = co_await list_all(std::move(queries));
    co_return std::move(listed.front());
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

awaitable<std::vector<result<email_page>>>
email_repository::list_all(std::vector<email_query> queries)
{
    return postgres::read_each<email_page>(
        db_, std::move(queries),
        [](pqxx::nontransaction& tx, const std::vector<email_query>& together) {
            return list_emails(tx, together);
        },
        "The emails cannot be read", [](const email_query& query) { return query.account.text(); });
}

awaitable<result<stored_email>> email_repository::find(account_id account, email_id id)
{
    return run_autocommit<result<stored_email>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<stored_email> {
            // One statement can miss a body that is being moved to its new partition; a second
            // finds it.
            for (int attempt = 0; attempt < 2; ++attempt) {
                const auto rows =
                    postgres::exec_prepared(tx, find_email.name, account.text(), id.text());
                if (rows.empty())
                    return email_does_not_exist(id);
                if (!rows[0]["raw"].is_null())
                    return read_email(rows[0]);
            }
            throw std::runtime_error("the body of email " + id.text() + " is missing");
        });
}

// In one statement.
awaitable<std::vector<result<stored_email>>>
email_repository::find_all(std::vector<std::pair<account_id, email_id>> emails)
{
    return postgres::read_each<stored_email>(
        db_, std::move(emails), find_in, "The email cannot be read",
        [](const std::pair<account_id, email_id>& name) { return name.second.text(); });
}

awaitable<std::vector<std::optional<std::string>>>
email_repository::read_bodies(std::vector<body_key> bodies)
{
    const auto count = bodies.size();
    try {
        co_return co_await read_together(db_, std::move(bodies));
    } catch (const dependency_error&) {
        throw;
    } catch (const std::exception& error) {
        // A damaged one: who asks finds its own by itself.
        log::warning("messages read one by one", {{"error", error.what()}});
    }
    co_return std::vector<std::optional<std::string>>(count);
}

awaitable<result<std::int64_t>> email_repository::find_size(account_id account, email_id id)
{
    return run_autocommit<result<std::int64_t>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<std::int64_t> {
            const auto rows =
                postgres::exec_prepared(tx, find_size_of.name, account.text(), id.text());
            if (rows.empty())
                return email_does_not_exist(id);
            return column<std::int64_t>(rows[0], "size_bytes");
        });
}

awaitable<result<email_arrival>> email_repository::find_arrival(account_id account, email_id id)
{
    return run_autocommit<result<email_arrival>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<email_arrival> {
            const auto rows =
                postgres::exec_prepared(tx, find_arrival_of.name, account.text(), id.text());
            if (rows.empty())
                return email_does_not_exist(id);
            return read_arrival(rows[0]);
        });
}

awaitable<result<email_summary>> email_repository::mark(account_id account, email_id id,
                                                        bool is_read)
{
    std::vector<email_mark> marks{{account, id, is_read}};
    auto marked = co_await mark_all(std::move(marks));
    co_return std::move(marked.front());
}

awaitable<std::vector<result<email_summary>>>
email_repository::mark_all(std::vector<email_mark> marks)
{
    return postgres::transact_each<email_summary>(db_, std::move(marks), mark_in);
}

awaitable<std::vector<std::string>>
email_repository::find_versions(std::vector<std::pair<account_id, inbox_id>> inboxes)
{
    return run_autocommit<std::vector<std::string>>(db_, [inboxes = std::move(inboxes)](
                                                             pqxx::nontransaction& tx) {
        const auto [accounts, ids] = postgres::to_arrays(inboxes);
        std::vector<std::string> versions;
        versions.reserve(inboxes.size());
        for (const auto& row : postgres::exec_prepared(tx, find_versions_of.name, accounts, ids))
            versions.emplace_back(row["version"].c_str()); // empty for NULL
        return versions;
    });
}

awaitable<result<search_results>> email_repository::find_first(account_id account, inbox_id inbox,
                                                               std::vector<email_search> searches)
{
    return run_autocommit<result<search_results>>(
        db_, [account, inbox, searches = std::move(searches)](pqxx::nontransaction& tx) {
            return find_first_emails(tx, account, inbox, searches);
        });
}

awaitable<result<examined_emails>> email_repository::read_above(account_id account, inbox_id inbox,
                                                                std::int64_t above, int max_emails)
{
    return run_autocommit<result<examined_emails>>(
        db_, [account, inbox, above, max_emails](pqxx::nontransaction& tx) {
            return read_emails_above(tx, account, inbox, above, max_emails);
        });
}

awaitable<std::vector<std::int64_t>>
email_repository::last_sequences(std::vector<std::pair<account_id, inbox_id>> inboxes)
{
    return run_autocommit<std::vector<std::int64_t>>(db_, [inboxes = std::move(inboxes)](
                                                              pqxx::nontransaction& tx) {
        const auto [accounts, ids] = postgres::to_arrays(inboxes);
        std::vector<std::int64_t> sequences;
        sequences.reserve(inboxes.size());
        for (const auto& row : postgres::exec_prepared(tx, read_last_sequences.name, accounts, ids))
            sequences.push_back(column<std::int64_t>(row, "last_sequence"));
        return sequences;
    });
}

awaitable<std::vector<daily_count>> email_repository::count_by_day(account_id account, int days)
{
    return count_emails_by_day(db_, account, days);
}

awaitable<std::vector<daily_count>> email_repository::count_by_day(account_id account,
                                                                   std::string tag, int days)
{
    return count_tagged_emails_by_day(db_, account, std::move(tag), days);
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
    std::vector<std::pair<account_id, email_id>> emails{{account, email}};
    auto removed = co_await remove_all(std::move(emails));
    co_return std::move(removed.front());
}

awaitable<std::vector<result<void>>>
email_repository::remove_all(std::vector<std::pair<account_id, email_id>> emails)
{
    using names = std::vector<std::pair<account_id, email_id>>;
    return postgres::transact_each<void>(
        db_, std::move(emails),
        [](pqxx::work& tx, const names& together) { return remove_emails(tx, together); });
}

} // namespace tempinbox::mailbox
