#include "mailbox/email_search_rows.hpp"

#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/email_summary_rows.hpp"
#include "mailbox/header_addresses.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

constexpr int max_rows_read = 2'000;
constexpr int rows_per_query = 500;
// A poll from the newest email on needs one row, one for a rare email needs many.
constexpr int rows_in_first_query = 10;

// Replicas' clocks differ by less than ten minutes.
constexpr postgres::statement find_range{"mailbox_find_position", R"(
    SELECT last_sequence, mailbox.lowest_uuid(created_at - interval '10 minutes') AS lowest_id,
           mailbox.lowest_uuid(coalesce(last_email_at, created_at) + interval '10 minutes')
               AS past_id
    FROM mailbox.inboxes
    WHERE account_id = $1 AND inbox_id = $2 AND is_live AND expires_at > now())"};

// $3, $4: bounds of the inbox's email ids, so that partitions of other days are not read. $6: an
// email that came after find_range is left to the next search.
constexpr postgres::statement read_above{"mailbox_read_emails_above", R"(
    SELECT email_id, sequence, from_address, from_name, rcpt_to, subject,
           coalesce(header_addresses -> 'to', to_jsonb(to_header)) AS to_addresses,
           codes <> '[]' AS has_code, jsonb_path_query_array(links, '$[*].kind') AS link_kinds,
           attachment_count, is_read, mailbox.to_micros(received_at) AS received_micros, preview,
           body_id, mailbox.to_micros(body_hour) AS body_micros, size_bytes
    FROM mailbox.emails
    WHERE account_id = $1 AND inbox_id = $2 AND email_id >= $3 AND email_id < $4
        AND sequence > $5 AND sequence <= $6
    ORDER BY sequence LIMIT $7)"};

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
    const auto rows = postgres::exec_prepared(tx, find_range.name, account.text(), inbox.text());
    if (rows.empty())
        return std::nullopt;
    email_range range;
    range.last_sequence = column<std::int64_t>(rows[0], "last_sequence");
    range.lowest_id = column<std::string>(rows[0], "lowest_id");
    range.past_id = column<std::string>(rows[0], "past_id");
    return range;
}

examined_email read_examined(account_id account, const pqxx::row& row)
{
    email_columns columns;
    columns.from = row["from_address"].c_str();
    columns.from_name = row["from_name"].c_str();
    columns.rcpt_to = from_array(row["rcpt_to"].c_str());
    columns.to = to_addresses_from_json(row["to_addresses"].c_str());
    columns.subject = row["subject"].c_str();
    columns.has_code = column<bool>(row, "has_code");
    columns.link_kinds = link_kinds_from_json(row["link_kinds"].c_str());
    columns.attachment_count = column<int>(row, "attachment_count");
    columns.is_read = column<bool>(row, "is_read");
    columns.received_at = column<time_point>(row, "received_micros");
    columns.preview = row["preview"].c_str();
    return {column<email_id>(row, "email_id"), column<std::int64_t>(row, "sequence"),
            filtered_email(std::move(columns)), read_message_location(account, row)};
}

pqxx::result read_rows(pqxx::transaction_base& tx, account_id account, inbox_id inbox,
                       const email_range& where, std::int64_t above, int max_rows)
{
    return postgres::exec_prepared(tx, read_above.name, account.text(), inbox.text(),
                                   where.lowest_id, where.past_id, above, where.last_sequence,
                                   max_rows);
}

failure inbox_does_not_exist(inbox_id inbox)
{
    return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};
}

// Returns the sequence up to which every search has seen all emails.
std::int64_t run_searches(pqxx::transaction_base& tx, account_id account, inbox_id inbox,
                          const email_range& where, std::vector<search_run>& runs)
{
    const auto is_done = [&](const search_run& run) { return run.is_done(where.last_sequence); };
    auto above = where.last_sequence;
    for (const auto& run : runs)
        if (!is_done(run))
            above = std::min(above, run.after());
    int row_limit = 0;
    for (int rows_read = 0; rows_read < max_rows_read; rows_read += row_limit) {
        row_limit = rows_read == 0 ? rows_in_first_query : rows_per_query;
        if (std::all_of(runs.begin(), runs.end(), is_done))
            return above;
        const auto rows = read_rows(tx, account, inbox, where, above, row_limit);
        for (const auto& each : rows) {
            const auto read = read_examined(account, each);
            for (auto& run : runs)
                run.examine(read);
            above = read.sequence;
        }
        if (static_cast<int>(rows.size()) < row_limit)
            return where.last_sequence;
    }
    return above;
}

} // namespace

std::vector<postgres::statement> email_search_statements()
{
    return {find_range, read_above};
}

result<search_results> find_first_emails(pqxx::transaction_base& tx, account_id account,
                                         inbox_id inbox, const std::vector<email_search>& searches)
{
    const auto where = read_range(tx, account, inbox);
    if (!where)
        return inbox_does_not_exist(inbox);

    std::vector<search_run> runs(searches.begin(), searches.end());
    const auto searched_to = run_searches(tx, account, inbox, *where, runs);
    search_results results;
    results.last_sequence = where->last_sequence;
    for (auto& run : runs) {
        run.searched_up_to(searched_to);
        results.results.push_back(run.take());
    }
    return results;
}

result<examined_emails> read_emails_above(pqxx::transaction_base& tx, account_id account,
                                          inbox_id inbox, std::int64_t above, int max_emails)
{
    const auto where = read_range(tx, account, inbox);
    if (!where)
        return inbox_does_not_exist(inbox);
    examined_emails read;
    read.last_sequence = where->last_sequence;
    const auto rows = read_rows(tx, account, inbox, *where, above, max_emails);
    for (const auto& row : rows)
        read.emails.push_back(read_examined(account, row));
    read.is_whole = static_cast<int>(rows.size()) < max_emails;
    return read;
}

} // namespace tempinbox::mailbox
