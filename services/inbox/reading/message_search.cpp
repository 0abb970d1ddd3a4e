#include "inbox/reading/message_search.hpp"

#include "inbox/reading/email_reader.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace tempinbox::inbox {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using mailbox::compiled_filter;
using mailbox::email_page;
using mailbox::email_query;
using mailbox::examined_emails;
using mailbox::filter_field;
using mailbox::filtered_email;
using mailbox::search_run;

constexpr int max_opened_for_page = 500;
constexpr int max_opened_for_poll = 200;
constexpr int candidates_per_statement = 100;
// A poll from the newest email on needs one row.
constexpr int rows_of_first_statement = 10;
constexpr int rows_per_statement = 200;
constexpr int max_rows_of_poll = 2'000;

constexpr std::size_t max_pages = 2;
constexpr std::size_t max_pages_per_account = 1;
constexpr std::size_t max_polls = 8;
constexpr std::size_t max_polls_per_account = 4;
constexpr auto turn_timeout = 4s;

failure too_many_searches()
{
    return failure{errc::unavailable,
                   "Other searches of text or headers are under way; try again in a second",
                   error_reason::search_busy};
}

awaitable<void> idle_for(clock::duration time)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

// The part of a filter that lists leave to their caller.
mailbox::email_filter message_conditions(const mailbox::email_filter& filter)
{
    mailbox::email_filter conditions;
    conditions.headers = filter.headers;
    conditions.text = filter.text;
    return conditions;
}

// Whether the rest of a message that was cut could change the result.
bool is_cut_before_match(const compiled_filter& filter, const filtered_email& email,
                         const mailbox::message_texts& texts)
{
    const auto failing = filter.first_failing(email);
    return texts.is_cut && failing && failing->field == filter_field::text;
}

// How opening the next message of a page or poll ended.
struct opening
{
    bool is_gone = false;
    std::optional<search_end> end = {}; // the page or poll ends before the message
};

search_end to_end(opening_bound met)
{
    switch (met) {
    case opening_bound::messages:
        return search_end::messages;
    case opening_bound::bytes:
        return search_end::bytes;
    case opening_bound::time:
        break;
    }
    return search_end::time;
}

// Opens the email's message, which is the session's next one.
awaitable<result<opening>> open_for_email(message_session& session, const compiled_filter& filter,
                                          filtered_email& email)
{
    if (const auto met = session.bound_met())
        co_return opening{.end = to_end(*met)};
    auto texts = co_await session.open_next();
    const bool is_first = session.opened() == 1;
    if (!texts && !is_first)
        co_return opening{.end = search_end::unread}; // the next one reports an error that lasts
    if (!texts)
        co_return texts.error();
    if (!*texts)
        co_return opening{.is_gone = true};
    email.open(*texts);
    if (!is_cut_before_match(filter, email, **texts))
        co_return opening();
    if (!is_first)
        co_return opening{.end = search_end::unread};
    auto again = co_await session.open_last_again();
    if (!again)
        co_return again.error();
    if (!*again)
        co_return opening{.is_gone = true};
    email.open(*again);
    co_return opening();
}

// A page that is filled with those candidates whose messages match.
class page_search
{
public:
    page_search(const email_query& query, message_session& session)
        : query_(query),
          session_(session),
          filter_(message_conditions(query.filter)),
          rest_(query)
    {
        rest_.limit = candidates_per_statement;
        rest_.max_bytes = 0;
        page_.next_cursor = query.cursor;
    }

    // What to list next.
    const email_query& rest() const { return rest_; }
    bool is_done() const { return is_done_; }
    search_end end() const { return end_; }

    awaitable<result<void>> examine(email_page listed)
    {
        if (page_.version.empty())
            page_.version = listed.version;
        auto emails = read_emails(listed);
        for (std::size_t i = 0; i < emails.size(); ++i) {
            if (filter_.is_undecided(emails[i])) {
                const auto opened = co_await open_for_email(session_, filter_, emails[i]);
                if (!opened)
                    co_return opened.error();
                if (opened->is_gone)
                    continue;
                if (opened->end) {
                    end_ = *opened->end;
                    co_return end_before(listed, i);
                }
            }
            if (!filter_.matches(emails[i]))
                continue;
            const auto& email = listed.items[i];
            bytes_ += email.size;
            if (query_.max_bytes > 0 && bytes_ > query_.max_bytes && !page_.items.empty())
                co_return end_before(listed, i);
            page_.items.push_back(email);
            if (static_cast<int>(page_.items.size()) < query_.limit)
                continue;
            const bool is_last = i + 1 == emails.size() && listed.next_cursor.empty();
            if (!is_last)
                co_return end_before(listed, i + 1);
        }
        note_rows(listed.rows, listed.back_to);
        page_.next_cursor = listed.next_cursor;
        rest_.cursor = listed.next_cursor;
        rest_.max_rows -= listed.rows;
        is_done_ = listed.next_cursor.empty() || listed.rows == 0 || rest_.max_rows <= 0 ||
                   static_cast<int>(page_.items.size()) == query_.limit;
        if (rest_.max_rows <= 0 && !listed.next_cursor.empty())
            end_ = search_end::rows;
        co_return result<void>();
    }

    email_page take() { return std::move(page_); }

private:
    // Those that need their messages are the session's next ones.
    std::vector<filtered_email> read_emails(const email_page& listed)
    {
        std::vector<filtered_email> emails;
        std::vector<message_session::message> undecided;
        for (std::size_t i = 0; i < listed.items.size(); ++i) {
            mailbox::email_columns columns;
            columns.preview = listed.items[i].preview;
            emails.emplace_back(std::move(columns));
            if (filter_.is_undecided(emails.back()))
                undecided.push_back({listed.items[i].id, listed.candidates.at(i).message});
        }
        session_.expect(std::move(undecided));
        return emails;
    }

    result<void> end_before(const email_page& listed, std::size_t index)
    {
        is_done_ = true;
        if (index == 0) // it starts where these candidates do
            return {};
        const auto& last = listed.items[index - 1];
        note_rows(listed.candidates[index - 1].rows, last.received_at);
        page_.next_cursor = cursor_past(query_, last);
        return {};
    }

    void note_rows(int rows, std::optional<time_point> back_to)
    {
        page_.rows += rows;
        if (back_to)
            page_.back_to = back_to;
    }

    const email_query& query_;
    message_session& session_;
    compiled_filter filter_;
    email_query rest_;
    email_page page_;
    std::int64_t bytes_ = 0;
    bool is_done_ = false;
    search_end end_ = search_end::whole;
};

// The searches of a poll, while rows are read for them.
class poll_search
{
public:
    poll_search(const std::vector<mailbox::email_search>& searches, message_session& session)
        : session_(session),
          runs_(searches.begin(), searches.end())
    {
        for (const auto& search : searches) {
            above_ = std::min(above_, search.after);
            filters_.emplace_back(search.filter);
        }
    }

    // Where the next rows begin.
    std::int64_t above() const { return above_; }
    bool is_done(std::int64_t last_sequence) const
    {
        return end_ || std::all_of(runs_.begin(), runs_.end(),
                                   [&](const auto& run) { return run.is_done(last_sequence); });
    }
    // Absent unless it ended before a message.
    std::optional<search_end> end() const { return end_; }
    bool needs_messages(const examined_emails& read) const
    {
        return std::any_of(read.emails.begin(), read.emails.end(),
                           [&](const auto& email) { return undecided(email) != runs_.size(); });
    }

    awaitable<result<void>> examine(examined_emails read)
    {
        std::vector<bool> is_expected;
        expect(read, is_expected);
        for (std::size_t i = 0; i < read.emails.size(); ++i) {
            auto& email = read.emails[i];
            const auto run = undecided(email);
            bool is_gone = false;
            if (is_expected[i] && run == runs_.size()) {
                session_.skip_next(); // whoever needed it has an email by now
            } else if (run != runs_.size()) {
                const auto opened = co_await open_for_email(session_, filters_[run], email.email);
                if (!opened)
                    co_return opened.error();
                end_ = opened->end;
                is_gone = opened->is_gone;
            }
            if (end_)
                break;
            above_ = email.sequence;
            if (!is_gone)
                for (auto& each : runs_)
                    each.examine(email);
        }
        if (read.is_whole && !end_)
            above_ = std::max(above_, read.last_sequence);
        co_return result<void>();
    }

    mailbox::search_results take(std::int64_t last_sequence)
    {
        mailbox::search_results results;
        results.last_sequence = last_sequence;
        for (auto& run : runs_) {
            run.searched_up_to(above_);
            results.results.push_back(run.take());
        }
        return results;
    }

private:
    // The first search that needs the email's message; the number of searches if none does.
    std::size_t undecided(const mailbox::examined_email& email) const
    {
        const auto first = std::find_if(runs_.begin(), runs_.end(), [&](const search_run& run) {
            return run.is_undecided(email);
        });
        return static_cast<std::size_t>(first - runs_.begin());
    }

    void expect(const examined_emails& read, std::vector<bool>& is_expected)
    {
        std::vector<message_session::message> messages;
        for (const auto& email : read.emails) {
            is_expected.push_back(undecided(email) != runs_.size());
            if (is_expected.back())
                messages.push_back({email.id, email.message});
        }
        session_.expect(std::move(messages));
    }

    message_session& session_;
    std::vector<search_run> runs_;
    std::vector<compiled_filter> filters_; // of the runs
    std::int64_t above_ = std::numeric_limits<std::int64_t>::max();
    std::optional<search_end> end_;
};

} // namespace

message_search::message_search(runtime::host& host, mailbox::email_repository& emails,
                               message_parser& parser, const search_limits& limits)
    : emails_(emails),
      opener_(host, emails, parser, limits.cache_bytes),
      page_bounds_{max_opened_for_page, limits.max_bytes, limits.max_time},
      poll_bounds_{max_opened_for_poll, limits.max_bytes, limits.max_time},
      pages_(host.executor(), max_pages, max_pages_per_account),
      polls_(host.executor(), max_polls, max_polls_per_account),
      page_ends_(make_counters(host, "page")),
      poll_ends_(make_counters(host, "poll"))
{}

message_search::counters message_search::make_counters(runtime::host& host, const char* kind)
{
    counters made{};
    std::size_t next = 0;
    for (const auto* end :
         {"whole", "rows", "messages", "bytes", "time", "unread", "busy", "failed"})
        made.at(next++) = &host.metrics().counter(
            "tempinbox_inbox_searches_total",
            "Pages of lists and polls of waits that look at messages, by how they ended",
            {{"kind", kind}, {"outcome", end}});
    return made;
}

awaitable<result<searched_page>> message_search::list(email_query query)
{
    auto end = search_end::failed;
    auto found = co_await search_page(std::move(query), end);
    page_ends_.at(static_cast<std::size_t>(end))->Increment();
    co_return found;
}

awaitable<result<searched_page>> message_search::search_page(email_query query, search_end& end)
{
    const auto until = email_reader::read_deadline();
    const auto turn = co_await pages_.acquire(query.account, async::deadline::after(turn_timeout));
    if (!turn) {
        end = search_end::busy;
        co_return too_many_searches();
    }
    message_session session(opener_, query.account, page_bounds_, until);
    page_search search(query, session);
    while (!search.is_done()) {
        const auto began = clock::now();
        auto rest = search.rest();
        auto listed = co_await emails_.list(std::move(rest));
        if (!listed)
            co_return listed.error();
        const auto examined = co_await search.examine(std::move(*listed));
        if (!examined)
            co_return examined.error();
        // Who asks for several pages at once leaves the cores to others for as long as each step
        // took, the last one too: the account's next page begins as soon as this one ends.
        if (pages_.has_waiter(query.account))
            co_await idle_for(clock::now() - began);
    }
    end = search.end();
    searched_page found;
    found.page = search.take();
    found.opened = session.opened();
    co_return found;
}

awaitable<result<mailbox::search_results>>
message_search::find_first(account_id account, inbox_id inbox,
                           std::vector<mailbox::email_search> searches)
{
    const auto needs_message = [](const auto& search) { return search.filter.needs_message(); };
    if (std::none_of(searches.begin(), searches.end(), needs_message))
        co_return co_await emails_.find_first(account, inbox, std::move(searches));

    // Those of columns alone need not wait for messages.
    std::vector<bool> is_opening;
    std::vector<mailbox::email_search> with_messages, others;
    for (auto& search : searches) {
        is_opening.push_back(needs_message(search));
        (is_opening.back() ? with_messages : others).push_back(std::move(search));
    }
    auto opened = co_await open_for(account, inbox, std::move(with_messages));
    if (!opened || others.empty())
        co_return opened;
    auto found = co_await emails_.find_first(account, inbox, std::move(others));
    if (!found)
        co_return found;
    mailbox::search_results results;
    results.last_sequence = std::max(opened->last_sequence, found->last_sequence);
    std::size_t next_opened = 0, next_found = 0;
    for (const bool is_of_opening : is_opening)
        results.results.push_back(is_of_opening ? std::move(opened->results.at(next_opened++))
                                                : std::move(found->results.at(next_found++)));
    co_return results;
}

awaitable<result<mailbox::search_results>>
message_search::open_for(account_id account, inbox_id inbox,
                         std::vector<mailbox::email_search> searches)
{
    auto end = search_end::failed;
    auto found = co_await search_above(account, inbox, std::move(searches), end);
    poll_ends_.at(static_cast<std::size_t>(end))->Increment();
    co_return found;
}

awaitable<result<mailbox::search_results>>
message_search::search_above(account_id account, inbox_id inbox,
                             std::vector<mailbox::email_search> searches, search_end& end)
{
    const auto until = email_reader::read_deadline();
    message_session session(opener_, account, poll_bounds_, until);
    poll_search search(searches, session);
    std::optional<semaphore::permit> turn;
    std::int64_t last_sequence = 0;
    auto reached = search_end::rows;
    int row_limit = rows_of_first_statement;
    for (int rows = 0; rows < max_rows_of_poll; rows += row_limit, row_limit = rows_per_statement) {
        auto read = co_await emails_.read_above(account, inbox, search.above(), row_limit);
        if (!read)
            co_return read.error();
        last_sequence = read->last_sequence;
        const bool is_whole = read->is_whole;
        if (!turn && search.needs_messages(*read)) {
            auto taken = co_await polls_.acquire(account, async::deadline::after(turn_timeout));
            if (!taken) {
                end = search_end::busy;
                co_return too_many_searches();
            }
            turn.emplace(std::move(*taken));
        }
        const auto examined = co_await search.examine(std::move(*read));
        if (!examined)
            co_return examined.error();
        if (is_whole || search.is_done(last_sequence)) {
            reached = search.end().value_or(search_end::whole);
            break;
        }
    }
    end = reached;
    co_return search.take(last_sequence);
}

} // namespace tempinbox::inbox
