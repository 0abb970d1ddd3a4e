#include "mailbox/email_search_repository.hpp"

#include "common/core/text.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "mailbox/columns.hpp"

#include <algorithm>

namespace tempinbox::mailbox {
namespace {

using postgres::run_autocommit; // reads need no transaction: each statement has its own snapshot

// A poll from the newest email on needs one row, one for a rare email needs many.
constexpr int rows_in_first_query = 10;
constexpr int rows_per_query = 500;
constexpr int max_rows_read = 2'000;
constexpr std::size_t max_near_misses = 10;
constexpr std::size_t max_actual_length = 200;

// Replicas' clocks differ by less than ten minutes.
constexpr postgres::statement find_position{"mailbox_find_position", R"(
    SELECT last_sequence, mailbox.lowest_uuid(created_at - interval '10 minutes'),
           mailbox.lowest_uuid(coalesce(last_email_at, created_at) + interval '10 minutes')
    FROM mailbox.inboxes
    WHERE account_id = $1 AND inbox_id = $2 AND is_live AND expires_at > now())"};

// $3, $4: bounds of the inbox's email ids, so that partitions of other days are not read. $6: an
// email that came after find_position is left to the next search.
constexpr postgres::statement read_emails{"mailbox_read_emails_above", R"(
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
struct position
{
    std::int64_t last_sequence = 0;
    std::string lowest_id;
    std::string past_id;
};

std::optional<position> read_position(pqxx::transaction_base& tx, account_id account,
                                      inbox_id inbox)
{
    const auto rows = tx.exec_prepared(find_position.name, account.text(), inbox.text());
    if (rows.empty())
        return std::nullopt;
    position found;
    found.last_sequence = rows[0][0].as<std::int64_t>();
    found.lowest_id = rows[0][1].as<std::string>();
    found.past_id = rows[0][2].as<std::string>();
    return found;
}

struct read_row
{
    email_id id;
    std::int64_t sequence;
    filtered_email email;

    explicit read_row(const pqxx::row& row)
        : id(email_id::parse(row[0].c_str()).value()),
          sequence(row[1].as<std::int64_t>()),
          email(row[2].c_str(), row[3].c_str(), from_array(row[4].c_str()),
                from_array(row[5].c_str()), row[6].c_str(), row[7].as<bool>())
    {}
};

// The state of one search while emails are read.
class search_run
{
public:
    explicit search_run(const email_search& search) : filter_(search.filter), after_(search.after)
    {
        result_.searched_to = after_;
    }

    bool is_done(std::int64_t last_sequence) const
    {
        return result_.email || after_ >= last_sequence;
    }
    std::int64_t after() const { return after_; }

    void examine(const read_row& row)
    {
        if (result_.email || row.sequence <= after_)
            return;
        result_.searched_to = row.sequence;
        const auto failing = filter_.first_failing(row.email);
        if (!failing) {
            result_.email = row.id;
            return;
        }
        near_miss missed;
        missed.email = row.id;
        missed.sequence = row.sequence;
        missed.field = *failing;
        missed.actual = take_characters(row.email.text(*failing), max_actual_length);
        auto& misses = result_.near_misses;
        if (misses.size() == max_near_misses)
            misses.erase(misses.begin());
        misses.push_back(std::move(missed));
    }

    // The search has examined every email up to `sequence`.
    void searched_up_to(std::int64_t sequence)
    {
        if (!result_.email)
            result_.searched_to = std::max(after_, sequence);
    }

    search_result take() { return std::move(result_); }

private:
    compiled_filter filter_;
    std::int64_t after_;
    search_result result_;
};

// Returns the sequence up to which every search has seen all emails.
std::int64_t run_searches(pqxx::transaction_base& tx, account_id account, inbox_id inbox,
                          const position& where, std::vector<search_run>& runs)
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
            tx.exec_prepared(read_emails.name, account.text(), inbox.text(), where.lowest_id,
                             where.past_id, above, where.last_sequence, row_limit);
        for (const auto& each : rows) {
            const read_row row(each);
            for (auto& one : runs)
                one.examine(row);
            above = row.sequence;
        }
        if (static_cast<int>(rows.size()) < row_limit)
            return where.last_sequence;
    }
    return above;
}

} // namespace

email_search_repository::email_search_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {find_position, read_emails, read_last_sequences})
        db_.prepare(statement);
}

awaitable<result<search_results>>
email_search_repository::find_first(account_id account, inbox_id inbox,
                                    std::vector<email_search> searches)
{
    return run_autocommit<result<search_results>>(
        db_,
        [account, inbox,
         searches = std::move(searches)](pqxx::nontransaction& tx) -> result<search_results> {
            const auto where = read_position(tx, account, inbox);
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
email_search_repository::last_sequences(std::vector<std::pair<account_id, inbox_id>> inboxes)
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

} // namespace tempinbox::mailbox
