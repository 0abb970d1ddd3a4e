#include "mailbox/email_lists.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/cursor.hpp"
#include "mailbox/email_summary_rows.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <utility>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

constexpr int rows_per_query = 500;
constexpr std::int64_t max_sequence = std::numeric_limits<std::int64_t>::max();
constexpr int max_rows_of_statement = 3'000; // of all its lists; one always fits
// Ids are made before the mail is stored, by clocks that differ by less than ten minutes.
constexpr std::chrono::minutes id_margin{10};

constexpr const char* filter_columns =
    "CASE WHEN requested.with_links THEN jsonb_path_query_array(links, '$[*].kind') END"
    " AS link_kinds, CASE WHEN requested.with_messages THEN body_id END AS body_id,"
    " CASE WHEN requested.with_messages THEN mailbox.to_micros(body_hour) END AS body_micros";

// After the summary, all statements return the kinds of the email's links and where its message is,
// where the filter looks at these, whether the email's inbox is live, which of the requested lists
// the row is of, and that list's version. The rows of a list come in its order, as its function
// returns them: a function in a LATERAL is only joined by calling it for each list, which keeps its
// order.
std::string inboxes_sql(std::string_view function)
{
    return "SELECT" + summary_columns("requested.with_codes") + ", " + filter_columns +
           R"(, true AS is_live, requested.ordinal, listed.version
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::uuid[], $6::uuid[],
                $7::integer[], $8::boolean[], $9::boolean[], $10::boolean[])
            WITH ORDINALITY AS requested (
            of_account, of_inbox, below, above, above_id, below_id, max_emails, with_codes,
            with_links, with_messages, ordinal)
        CROSS JOIN LATERAL (
            SELECT )" +
           std::string(list_version_column) + R"( AS version FROM mailbox.inboxes
            WHERE account_id = requested.of_account AND inbox_id = requested.of_inbox
            OFFSET 0) AS listed
        CROSS JOIN LATERAL )" +
           std::string(function) + R"((
            requested.of_account, requested.of_inbox, requested.below, requested.above,
            requested.above_id, requested.below_id, requested.max_emails))";
}

const std::string list_inboxes_sql = inboxes_sql("mailbox.list_emails");
const postgres::statement list_inboxes{"mailbox_list_emails", list_inboxes_sql.c_str()};
const std::string list_inboxes_oldest_first_sql = inboxes_sql("mailbox.list_emails_oldest_first");
const postgres::statement list_inboxes_oldest_first{"mailbox_list_emails_oldest_first",
                                                    list_inboxes_oldest_first_sql.c_str()};

std::string accounts_sql(std::string_view function)
{
    return "SELECT" + summary_columns() + ", " + filter_columns + R"(, EXISTS (
            SELECT 1 FROM mailbox.inboxes AS i
            WHERE i.account_id = requested.of_account AND i.inbox_id = listed.inbox_id
                AND i.is_live AND i.expires_at > now()
                AND (requested.of_tag IS NULL OR requested.of_tag = ANY (i.tags))
                AND (requested.other_tag IS NULL OR requested.other_tag = ANY (i.tags))) AS is_live,
        requested.ordinal, NULL AS version
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::text[],
                $7::boolean[], $8::boolean[])
            WITH ORDINALITY AS requested (
            of_account, above_id, below_id, max_emails, of_tag, other_tag, with_links,
            with_messages, ordinal)
        CROSS JOIN LATERAL )" +
           std::string(function) + R"((
            requested.of_account, requested.above_id, requested.below_id, requested.max_emails)
            AS listed)";
}

const std::string list_accounts_sql = accounts_sql("mailbox.list_account_emails");
const postgres::statement list_accounts{"mailbox_list_all_emails", list_accounts_sql.c_str()};
const std::string list_accounts_oldest_first_sql =
    accounts_sql("mailbox.list_account_emails_oldest_first");
const postgres::statement list_accounts_oldest_first{"mailbox_list_all_emails_oldest_first",
                                                     list_accounts_oldest_first_sql.c_str()};

// The live inboxes with the tags that have emails, and how many these are.
constexpr postgres::statement find_tagged_inboxes{"mailbox_find_tagged_inboxes", R"(
    SELECT coalesce(sum(email_count), 0)::bigint AS emails,
        coalesce(array_agg(inbox_id) FILTER (WHERE email_count > 0), '{}') AS inboxes
    FROM mailbox.inboxes
    WHERE account_id = $1 AND is_live AND expires_at > now() AND tags @> $2::text[])"};

// The emails of some inboxes in the order of a list of all: few enough to be sorted.
std::string tagged_sql(std::string_view order)
{
    return "SELECT" + summary_columns() + ", " + filter_columns +
           R"(, true AS is_live, NULL AS version
    FROM (SELECT $5::boolean AS with_links, $6::boolean AS with_messages) AS requested
        CROSS JOIN mailbox.list_emails_of_inboxes($1::uuid, $2::uuid[], $3::uuid, $4::uuid)
            AS listed
    ORDER BY listed.email_id )" +
           std::string(order) + " LIMIT $7";
}

const std::string list_tagged_sql = tagged_sql("DESC");
const postgres::statement list_tagged{"mailbox_list_tagged_emails", list_tagged_sql.c_str()};
const std::string list_tagged_oldest_first_sql = tagged_sql("ASC");
const postgres::statement list_tagged_oldest_first{"mailbox_list_tagged_emails_oldest_first",
                                                   list_tagged_oldest_first_sql.c_str()};

bool is_oldest_first(const email_query& query)
{
    return query.order == list_order::oldest_first;
}

std::string text_of(const email_query& query)
{
    auto scope = query.inbox ? query.inbox->text() + " " + std::to_string(query.after)
                             : "of " + query.account.text();
    for (const auto& tag : query.tags)
        scope += " tag " + std::to_string(tag.size()) + ":" + tag;
    return (is_oldest_first(query) ? "emails asc " : "emails ") + scope + query.filter.key();
}

failure foreign_cursor()
{
    return failure{errc::invalid_argument, "cursor is not one that this list gave out",
                   error_reason::invalid_cursor};
}

int first_rows(const email_query& query)
{
    // Without a filter the first statement mostly fills the page: only emails of ended inboxes are
    // skipped.
    auto columns = query.filter;
    columns.headers.clear();
    columns.text.reset();
    const auto rows = columns == email_filter() ? query.limit + 1 : rows_per_query;
    return std::min(rows, query.max_rows);
}

std::string make_cursor_past(const email_query& query, std::string_view text, std::int64_t sequence,
                             uuid id)
{
    return make_cursor(text, query.inbox ? std::to_string(sequence) : id.text());
}

// The page of one query, filled by statements, in its order, until it is full, there are no more
// rows, or the most that it may look at were read.
class page_run
{
public:
    explicit page_run(const email_query& query)
        : query_(query),
          text_(text_of(query)),
          filter_(query.filter)
    {
        if (is_oldest_first(query)) {
            last_sequence_ = query.after;
            last_id_ = uuid();
        }
        if (!query.cursor.empty())
            continue_at(query.cursor);
    }

    const email_query& query() const { return query_; }
    // Set where so few emails are in inboxes with the tags that these are read by their inboxes.
    const std::optional<std::vector<inbox_id>>& inboxes() const { return inboxes_; }
    void read_by(std::vector<inbox_id> inboxes)
    {
        is_done_ = is_done_ || inboxes.empty();
        inboxes_ = std::move(inboxes);
    }
    bool is_done() const { return is_done_; }

    // The next statement reads between these.
    std::int64_t below_sequence() const
    {
        return is_oldest_first(query_) ? max_sequence : last_sequence_;
    }
    std::int64_t above_sequence() const
    {
        return is_oldest_first(query_) ? std::max(query_.after, last_sequence_) : query_.after;
    }
    // Of a list of an inbox these bound the time alone.
    uuid above_id() const
    {
        const auto& since = query_.filter.since;
        const auto lowest = since ? uuid::lowest_v7(*since - id_margin) : uuid();
        return !query_.inbox && is_oldest_first(query_) ? std::max(lowest, last_id_) : lowest;
    }
    uuid below_id() const
    {
        const auto& until = query_.filter.until;
        const auto past = until ? uuid::lowest_v7(*until + id_margin) : uuid::max();
        return query_.inbox || is_oldest_first(query_) ? past : std::min(past, last_id_);
    }

    bool needs_codes() const { return query_.with_codes || query_.filter.has_code.has_value(); }
    bool needs_links() const { return query_.filter.has_link || query_.filter.link_kind; }
    bool needs_messages() const { return filter_.needs_message(); }

    // How many rows the next statement is to read, at most.
    int rows_to_read() const
    {
        const int left = query_.max_rows - rows_read_;
        if (rows_read_ == 0)
            return first_rows(query_);
        // Each statement reads all of these inboxes: a second one is to be the last.
        return inboxes_ ? left : std::min(rows_per_query, left);
    }

    void take(const pqxx::row& row)
    {
        ++rows_found_;
        // The version of the first statement: later ones may see a newer version, but not an older.
        if (!version_)
            version_ = row["version"].c_str();     // empty for NULL
        if (is_done_ || row["email_id"].is_null()) // of NULLs: the inbox has no such emails
            return;
        auto email = read_summary(row);
        last_sequence_ = email.sequence;
        last_id_ = email.id.value();
        last_received_ = email.received_at;
        ++rows_examined_;
        if (!column<bool>(row, "is_live") || !passes(email, row))
            return;
        bytes_ += email.size;
        const bool is_heavy = query_.max_bytes > 0 && bytes_ > query_.max_bytes && !emails_.empty();
        if (is_heavy || static_cast<int>(emails_.size()) == query_.limit)
            return end(&emails_.back());
        if (needs_messages())
            candidates_.push_back({read_message_location(query_.account, row), rows_examined_});
        rows_to_last_ = rows_examined_;
        emails_.push_back(std::move(email));
    }

    // The statement's rows were all taken.
    void note_end_of_rows()
    {
        if (is_done_)
            return;
        const int rows_requested = rows_to_read();
        if (query_.inbox && rows_found_ == 0)
            fail(failure{errc::not_found, "Inbox " + query_.inbox->text() + " does not exist"});
        rows_read_ += rows_requested;
        if (std::exchange(rows_found_, 0) < rows_requested)
            is_done_ = true;
        else if (rows_read_ >= query_.max_rows)
            end(nullptr);
    }

    result<email_page> take_page()
    {
        if (error_)
            return *error_;
        email_page page;
        page.rows = rows_examined_;
        page.back_to = last_received_;
        page.candidates = std::move(candidates_);
        page.items = std::move(emails_);
        page.next_cursor = std::move(next_cursor_);
        page.version = std::move(version_).value_or("");
        return page;
    }

private:
    void continue_at(std::string_view cursor)
    {
        const auto position = read_cursor(cursor, text_);
        if (!position)
            return fail(position.error());
        if (query_.inbox) {
            const auto end = position->data() + position->size();
            if (std::from_chars(position->data(), end, last_sequence_).ec != std::errc{})
                fail(foreign_cursor());
        } else if (const auto id = uuid::parse(*position)) {
            last_id_ = *id;
        } else {
            fail(foreign_cursor());
        }
    }

    bool passes(const email_summary& email, const pqxx::row& row) const
    {
        if (filter_.is_empty())
            return true;
        email_columns columns;
        columns.from = email.from;
        columns.from_name = email.from_name;
        columns.rcpt_to = email.rcpt_to;
        columns.to = email.to;
        columns.subject = email.subject;
        columns.has_code = !email.codes.empty();
        if (needs_links())
            columns.link_kinds = link_kinds_from_json(row["link_kinds"].c_str());
        columns.attachment_count = email.attachment_count;
        columns.is_read = email.is_read;
        columns.received_at = email.received_at;
        return filter_.matches_columns(filtered_email(std::move(columns)));
    }

    // The next page begins past the email, or past all that was read.
    void end(const email_summary* last)
    {
        if (last) {
            rows_examined_ = rows_to_last_;
            last_received_ = last->received_at;
        }
        next_cursor_ = make_cursor_past(query_, text_, last ? last->sequence : last_sequence_,
                                        last ? last->id.value() : last_id_);
        is_done_ = true;
    }

    void fail(failure error)
    {
        error_ = std::move(error);
        is_done_ = true;
    }

    const email_query& query_;
    std::optional<std::vector<inbox_id>> inboxes_;
    std::string text_;
    compiled_filter filter_;
    // Of the last row read; initially before every row, in the order of the list.
    std::int64_t last_sequence_ = max_sequence;
    uuid last_id_ = uuid::max();
    std::optional<time_point> last_received_;
    int rows_read_ = 0;  // what earlier statements read, at most
    int rows_found_ = 0; // of this statement
    int rows_examined_ = 0;
    int rows_to_last_ = 0; // those up to the last of emails_
    std::int64_t bytes_ = 0;
    bool is_done_ = false;
    std::optional<failure> error_;
    std::vector<email_summary> emails_;
    std::vector<email_page::candidate> candidates_;
    std::string next_cursor_;
    std::optional<std::string> version_;
};

using page_runs = std::vector<page_run*>;

pqxx::result read_inboxes(pqxx::transaction_base& tx, const page_runs& runs, list_order order)
{
    std::vector<std::pair<account_id, inbox_id>> inboxes;
    std::vector<std::int64_t> below, above;
    std::vector<uuid> above_id, below_id;
    std::vector<std::int32_t> rows;
    std::vector<bool> with_codes, with_links, with_messages;
    for (const auto* run : runs) {
        const auto& query = run->query();
        inboxes.emplace_back(query.account, *query.inbox);
        below.push_back(run->below_sequence());
        above.push_back(run->above_sequence());
        above_id.push_back(run->above_id());
        below_id.push_back(run->below_id());
        rows.push_back(run->rows_to_read());
        with_codes.push_back(run->needs_codes());
        with_links.push_back(run->needs_links());
        with_messages.push_back(run->needs_messages());
    }
    const auto [accounts, ids] = postgres::to_arrays(inboxes);
    const auto& statement =
        order == list_order::oldest_first ? list_inboxes_oldest_first : list_inboxes;
    return postgres::exec_prepared(tx, statement.name, accounts, ids, postgres::to_array(below),
                                   postgres::to_array(above), postgres::to_array(above_id),
                                   postgres::to_array(below_id), postgres::to_array(rows),
                                   postgres::to_array(with_codes), postgres::to_array(with_links),
                                   postgres::to_array(with_messages));
}

pqxx::result read_accounts(pqxx::transaction_base& tx, const page_runs& runs, list_order order)
{
    std::vector<account_id> accounts;
    std::vector<uuid> above_id, below_id;
    std::vector<std::int32_t> rows;
    std::vector<std::optional<std::string>> tags, other_tags;
    std::vector<bool> with_links, with_messages;
    for (const auto* run : runs) {
        accounts.push_back(run->query().account);
        above_id.push_back(run->above_id());
        below_id.push_back(run->below_id());
        rows.push_back(run->rows_to_read());
        const auto& both = run->query().tags;
        tags.push_back(both.empty() ? std::nullopt : std::optional(both.front()));
        other_tags.push_back(both.size() < 2 ? std::nullopt : std::optional(both.back()));
        with_links.push_back(run->needs_links());
        with_messages.push_back(run->needs_messages());
    }
    const auto& statement =
        order == list_order::oldest_first ? list_accounts_oldest_first : list_accounts;
    return postgres::exec_prepared(tx, statement.name, postgres::to_array(accounts),
                                   postgres::to_array(above_id), postgres::to_array(below_id),
                                   postgres::to_array(rows), postgres::to_array(tags),
                                   postgres::to_array(other_tags), postgres::to_array(with_links),
                                   postgres::to_array(with_messages));
}

void find_inboxes(pqxx::transaction_base& tx, page_run& run)
{
    const auto& query = run.query();
    if (query.inbox || query.tags.empty() || run.is_done())
        return;
    const auto rows = postgres::exec_prepared(tx, find_tagged_inboxes.name, query.account.text(),
                                              postgres::to_array(query.tags));
    if (column<std::int64_t>(rows[0], "emails") > max_listed_rows)
        return;
    std::vector<inbox_id> inboxes;
    for (const auto& id : from_array(rows[0]["inboxes"].c_str()))
        inboxes.push_back(inbox_id::parse(id).value());
    run.read_by(std::move(inboxes));
}

void advance_by_inboxes(pqxx::transaction_base& tx, page_run& run)
{
    const auto& statement = is_oldest_first(run.query()) ? list_tagged_oldest_first : list_tagged;
    const pqxx::result rows = postgres::exec_prepared(
        tx, statement.name, run.query().account.text(), postgres::to_array(*run.inboxes()),
        run.above_id().text(), run.below_id().text(), run.needs_links(), run.needs_messages(),
        run.rows_to_read());
    for (const auto& row : rows)
        run.take(row);
    run.note_end_of_rows();
}

// One statement for those that are not done, of inboxes or of accounts, in one order; what does not
// fit waits for the next.
template <class Read>
void advance(pqxx::transaction_base& tx, std::vector<page_run>& all, bool of_inboxes,
             list_order order, Read read)
{
    page_runs runs;
    int row_count = 0;
    for (auto& run : all) {
        const auto& query = run.query();
        if (run.is_done() || query.inbox.has_value() != of_inboxes || query.order != order ||
            run.inboxes())
            continue;
        row_count += run.rows_to_read();
        if (!runs.empty() && row_count > max_rows_of_statement)
            break;
        runs.push_back(&run);
    }
    if (runs.empty())
        return;
    const pqxx::result rows = read(tx, runs, order);
    for (const auto& row : rows)
        runs.at(column<std::size_t>(row, "ordinal") - 1)->take(row);
    for (auto* run : runs)
        run->note_end_of_rows();
}

} // namespace

std::vector<postgres::statement> email_list_statements()
{
    return {list_inboxes,
            list_inboxes_oldest_first,
            list_accounts,
            list_accounts_oldest_first,
            find_tagged_inboxes,
            list_tagged,
            list_tagged_oldest_first};
}

std::string cursor_past(const email_query& query, const email_summary& email)
{
    return make_cursor_past(query, text_of(query), email.sequence, email.id.value());
}

std::vector<result<email_page>> list_emails(pqxx::transaction_base& tx,
                                            const std::vector<email_query>& queries)
{
    std::vector<page_run> runs(queries.begin(), queries.end());
    for (auto& run : runs)
        find_inboxes(tx, run);
    const auto is_done = [](const page_run& run) { return run.is_done(); };
    while (!std::all_of(runs.begin(), runs.end(), is_done)) {
        for (const auto order : {list_order::newest_first, list_order::oldest_first}) {
            advance(tx, runs, true, order, read_inboxes);
            advance(tx, runs, false, order, read_accounts);
        }
        for (auto& run : runs)
            if (run.inboxes() && !run.is_done())
                advance_by_inboxes(tx, run);
    }
    std::vector<result<email_page>> pages;
    pages.reserve(runs.size());
    for (auto& run : runs)
        pages.push_back(run.take_page());
    return pages;
}

} // namespace tempinbox::mailbox
