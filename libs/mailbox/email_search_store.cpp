#include "mailbox/email_search_store.hpp"

#include "common/core/text.hpp"
#include "common/postgres/autocommit.hpp"
#include "mailbox/columns.hpp"

#include <algorithm>

namespace tempinbox::mailbox {
namespace {

using postgres::run_autocommit; // reads need no transaction: each statement is of one moment

// Who waits from the newest on needs one row, who waits for something rare many.
constexpr int rows_at_first = 10;
constexpr int rows_at_a_time = 500;
constexpr int most_rows_looked_at = 2'000;
constexpr std::size_t most_near_misses = 10;
constexpr std::size_t longest_actual = 200;

// Clocks of replicas differ by less than ten minutes.
constexpr postgres::statement find_position{"mailbox_find_position", R"(
    SELECT last_sequence, mailbox.lowest_uuid(created_at - interval '10 minutes'),
           mailbox.lowest_uuid(coalesce(last_email_at, created_at) + interval '10 minutes')
    FROM mailbox.inboxes WHERE account_id = $1 AND inbox_id = $2 AND is_live AND expires_at > now())"};

// $3, $4: the inbox has no older and no newer email, so the days before and after are not looked
// at. $6: what came after the position was read is the next look's.
constexpr postgres::statement read_emails{"mailbox_read_emails_above", R"(
    SELECT email_id, sequence, from_address, from_name, rcpt_to, to_header, subject, codes <> '[]'
    FROM mailbox.emails WHERE account_id = $1 AND inbox_id = $2 AND email_id >= $3 AND email_id < $4 AND sequence > $5
        AND sequence <= $6
    ORDER BY sequence LIMIT $7)"};

// Each inbox is looked up by its key: a join might read all of them by a plan made when there were
// few.
constexpr postgres::statement read_last_sequences{"mailbox_read_last_sequences", R"(
    SELECT coalesce((SELECT i.last_sequence FROM mailbox.inboxes AS i
                     WHERE i.account_id = asked.account_id AND i.inbox_id = asked.inbox_id AND i.is_live AND i.expires_at > now()), -1)
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS asked (account_id, inbox_id, place) ORDER BY place)"};

// Where an inbox's emails are.
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

// One search on its way through the emails.
class hunt
{
public:
    explicit hunt(const email_search& wanted) : filter_(wanted.filter), after_(wanted.after)
    {
        outcome_.searched_to = after_;
    }

    bool is_over(std::int64_t last_sequence) const
    {
        return outcome_.email || after_ >= last_sequence;
    }
    std::int64_t after() const { return after_; }

    void look_at(const read_row& row)
    {
        if (outcome_.email || row.sequence <= after_)
            return;
        outcome_.searched_to = row.sequence;
        const auto failing = filter_.first_failing(row.email);
        if (!failing) {
            outcome_.email = row.id;
            return;
        }
        near_miss missed;
        missed.email = row.id;
        missed.sequence = row.sequence;
        missed.field = *failing;
        missed.actual = take_characters(row.email.text(*failing), longest_actual);
        auto& misses = outcome_.near_misses;
        if (misses.size() == most_near_misses)
            misses.erase(misses.begin());
        misses.push_back(std::move(missed));
    }

    // Every email up to there was shown to it.
    void was_shown_up_to(std::int64_t sequence)
    {
        if (!outcome_.email)
            outcome_.searched_to = std::max(after_, sequence);
    }

    search_outcome take() { return std::move(outcome_); }

private:
    compiled_filter filter_;
    std::int64_t after_;
    search_outcome outcome_;
};

// Up to which sequence no email was left out.
std::int64_t look_at_emails(pqxx::transaction_base& tx, account_id account, inbox_id inbox,
                            const position& where, std::vector<hunt>& hunts)
{
    const auto is_over = [&](const hunt& one) { return one.is_over(where.last_sequence); };
    auto above = where.last_sequence;
    for (const auto& one : hunts)
        if (!is_over(one))
            above = std::min(above, one.after());
    int wanted = 0;
    for (int looked_at = 0; looked_at < most_rows_looked_at; looked_at += wanted) {
        wanted = looked_at == 0 ? rows_at_first : rows_at_a_time;
        if (std::all_of(hunts.begin(), hunts.end(), is_over))
            return above;
        const auto rows =
            tx.exec_prepared(read_emails.name, account.text(), inbox.text(), where.lowest_id,
                             where.past_id, above, where.last_sequence, wanted);
        for (const auto& each : rows) {
            const read_row row(each);
            for (auto& one : hunts)
                one.look_at(row);
            above = row.sequence;
        }
        if (static_cast<int>(rows.size()) < wanted)
            return where.last_sequence;
    }
    return above;
}

} // namespace

email_search_store::email_search_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {find_position, read_emails, read_last_sequences})
        db_.prepare(statement);
}

awaitable<result<search_answer>> email_search_store::find_first(account_id account, inbox_id inbox,
                                                                std::vector<email_search> searches)
{
    return run_autocommit<result<search_answer>>(
        db_,
        [account, inbox,
         searches = std::move(searches)](pqxx::nontransaction& tx) -> result<search_answer> {
            const auto where = read_position(tx, account, inbox);
            if (!where)
                return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};

            std::vector<hunt> hunts(searches.begin(), searches.end());
            const auto shown = look_at_emails(tx, account, inbox, *where, hunts);
            search_answer answer;
            answer.last_sequence = where->last_sequence;
            for (auto& one : hunts) {
                one.was_shown_up_to(shown);
                answer.outcomes.push_back(one.take());
            }
            return answer;
        });
}

awaitable<std::vector<std::int64_t>>
email_search_store::last_sequences(std::vector<std::pair<account_id, inbox_id>> inboxes)
{
    return run_autocommit<std::vector<std::int64_t>>(
        db_, [inboxes = std::move(inboxes)](pqxx::nontransaction& tx) {
            const auto [accounts, ids] = to_id_arrays(inboxes);
            std::vector<std::int64_t> sequences;
            sequences.reserve(inboxes.size());
            for (const auto& row : tx.exec_prepared(read_last_sequences.name, accounts, ids))
                sequences.push_back(row[0].as<std::int64_t>());
            return sequences;
        });
}

} // namespace tempinbox::mailbox
