#include "gateway/long_poll/inbox_poller.hpp"

#include "gateway/json/resources.hpp"
#include "gateway/pipeline/counted_reading.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace tempinbox::gateway {
namespace {

// The most searches in one call to the inbox service.
constexpr std::size_t max_searches_per_call = 100;
constexpr std::size_t max_near_misses = 10;

// An email as JSON, counted until its last waiter releases it.
struct counted_json
{
    std::string text;
    response_budget::reservation counted;
};

} // namespace

// Waiters with the same filter and the same `after`; for each whether this poll is its last.
struct inbox_poller::group
{
    std::int64_t after = 0;
    inbox::v1::EmailFilter filter;
    int missing = 0; // of those who count emails; 0: they wait for one
    std::vector<std::pair<std::shared_ptr<poll_waiter>, bool>> members;

    group() = default;
};

inbox_poller::inbox_poller(boost::asio::any_io_executor executor, inbox_client& inboxes,
                           response_budget& memory, account_id account, inbox_id inbox)
    : executor_(std::move(executor)),
      inboxes_(inboxes),
      memory_(memory),
      account_(account),
      inbox_(inbox)
{}

void inbox_poller::add(const std::shared_ptr<poll_waiter>& fresh)
{
    waiters_.insert(fresh);
    poll();
}

void inbox_poller::remove(const std::shared_ptr<poll_waiter>& gone)
{
    waiters_.erase(gone);
}

void inbox_poller::poll()
{
    is_poll_requested_ = true;
    if (is_polling_)
        return;
    is_polling_ = true;
    boost::asio::co_spawn(executor_, run(shared_from_this()), boost::asio::detached);
}

void inbox_poller::note_email(std::int64_t sequence)
{
    if (sequence > last_sequence_)
        poll();
}

void inbox_poller::note_position(std::int64_t last_sequence)
{
    if (last_sequence < 0) {
        end();
        return;
    }
    polled_at_ = clock::now();
    note_email(last_sequence);
}

// A waiter that was not polled for yet is ended by its poll, which knows whether the inbox ever
// existed.
void inbox_poller::end()
{
    polled_at_ = clock::now();
    for (const auto& one : waiters_)
        if (one->was_polled)
            finish(*one, long_poll_outcome::inbox_ended);
}

void inbox_poller::interrupt()
{
    for (const auto& one : waiters_) {
        one->final_outcome = long_poll_outcome::draining;
        if (one->was_polled)
            finish(*one, long_poll_outcome::draining);
    }
}

void inbox_poller::give_up(poll_waiter& one)
{
    one.finish(failure{errc::unavailable, "The emails could not be looked through in time"});
}

awaitable<void> inbox_poller::run(std::shared_ptr<inbox_poller> self)
{
    while (self->is_poll_requested_ && !self->waiters_.empty()) {
        self->is_poll_requested_ = false;
        std::string error_text;
        try {
            co_await self->poll_once();
        } catch (const std::exception& error) {
            // Nobody awaits this coroutine: its waiters are told, and the next poll follows.
            error_text = error.what();
        }
        if (!error_text.empty())
            self->fail(failure{errc::internal, error_text});
    }
    self->is_polling_ = false;
}

bool inbox_poller::looks_at_messages(const group& one)
{
    return one.filter.has_text() || !one.filter.headers().empty();
}

awaitable<void> inbox_poller::poll_once()
{
    auto all = gather();
    has_failed_ = false;
    polled_at_ = clock::now();
    // Searches of messages may wait for their turn: they come last, in calls of their own.
    const auto after_messages = std::partition(all.begin(), all.end(), looks_at_messages);
    const auto of_messages = static_cast<std::size_t>(after_messages - all.begin());
    while (!all.empty()) {
        const auto begin = all.size() > of_messages ? of_messages : 0;
        const auto first =
            std::max(begin, all.size() - std::min(all.size(), max_searches_per_call));
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
        groups part(std::make_move_iterator(from), std::make_move_iterator(all.end()));
        all.erase(from, all.end());
        if (!co_await search_part(part))
            break;
    }
}

inbox_poller::groups inbox_poller::gather() const
{
    // Waiters with the same position, filter and number of emails to find share one search.
    std::map<std::tuple<std::int64_t, std::string_view, int>, group> by_search;
    for (const auto& one : waiters_) {
        if (one->final_result)
            continue;
        const int missing = std::max(one->missing(), 0);
        auto& same = by_search[{one->searched_to, one->filter_text, missing}];
        same.missing = missing;
        same.after = one->searched_to;
        same.filter = one->request.filter;
        same.members.emplace_back(one, one->final_outcome.has_value());
    }
    groups all;
    for (auto& [search, members] : by_search)
        all.push_back(std::move(members));
    return all;
}

// False if the call failed: the poll is over.
awaitable<bool> inbox_poller::search_part(groups& part)
{
    inbox::v1::FindFirstEmailsRequest request;
    request.set_account_id(account_.text());
    request.set_inbox_id(inbox_.text());
    for (const auto& each : part) {
        auto& search = *request.add_searches();
        search.set_after(each.after);
        *search.mutable_filter() = each.filter;
        search.set_max_matches(std::max(each.missing, 1));
    }
    const auto found = co_await inboxes_.call(inbox_methods::find_first_emails, std::move(request));
    if (!found) {
        fail(found.error());
        co_return false;
    }
    last_sequence_ = std::max(last_sequence_, found->last_sequence());
    // Each email is read once for all its waiters, and released before the next is read.
    std::map<std::string, std::vector<std::pair<group*, std::int64_t>>> by_email;
    for (std::size_t i = 0; i < part.size() && static_cast<int>(i) < found->results_size(); ++i) {
        const auto& result = found->results(static_cast<int>(i));
        apply_result(part[i], result, found->last_sequence());
        if (part[i].missing == 0 && result.email_ids_size() > 0)
            by_email[result.email_ids(0)].emplace_back(&part[i], result.searched_to());
    }
    for (auto& [email_id, groups_of_it] : by_email)
        co_await deliver(email_id, std::move(groups_of_it));
    co_return true;
}

void inbox_poller::fail(const failure& reason)
{
    has_failed_ = true;
    for (const auto& one : waiters_) {
        const bool is_last = one->final_outcome == long_poll_outcome::timeout;
        if (one->was_polled && reason.code == errc::not_found)
            finish(*one, long_poll_outcome::inbox_ended);
        else if (!one->was_polled || is_last)
            one->finish(reason);
    }
}

// Records that a search found nothing up to searched_to, or nothing before its email.
void inbox_poller::apply_result(group& judged, const inbox::v1::EmailSearchResult& result,
                                std::int64_t last_sequence)
{
    const bool has_email = judged.missing == 0 && result.email_ids_size() > 0;
    const bool is_whole = result.searched_to() >= last_sequence;
    for (const auto& [one, is_last] : judged.members) {
        one->searched_to =
            std::max(one->searched_to, has_email ? result.searched_to() - 1 : result.searched_to());
        auto& misses = one->near_misses;
        misses.insert(misses.end(), result.near_misses().begin(), result.near_misses().end());
        if (misses.size() > max_near_misses)
            misses.erase(misses.begin(), misses.end() - max_near_misses);
        if (has_email)
            continue;
        if (judged.missing > 0)
            one->matching.insert(one->matching.end(), result.email_ids().begin(),
                                 result.email_ids().end());
        if (judged.missing > 0 && one->missing() <= 0) {
            finish(*one, long_poll_outcome::matched);
            continue;
        }
        if (!is_whole) {
            is_poll_requested_ = true; // a search ends after so many emails
            continue;
        }
        one->was_polled = true;
        if (one->final_outcome && (is_last || one->final_outcome == long_poll_outcome::draining))
            finish(*one, *one->final_outcome);
    }
}

// Gives the email to the waiters it matched. If the email was deleted meanwhile, they search on; if
// it cannot be read, the poll has failed.
awaitable<void> inbox_poller::deliver(std::string email_id,
                                      std::vector<std::pair<group*, std::int64_t>> found)
{
    const auto email = co_await read_whole(account_, std::move(email_id), inboxes_, memory_);
    const bool is_gone = !email && email.error().code == errc::not_found;
    if (is_gone)
        is_poll_requested_ = true;
    else if (!email)
        fail(email.error());
    for (const auto& [same, sequence] : found) {
        for (const auto& [one, is_last] : same->members) {
            if (email)
                finish(*one, long_poll_outcome::matched, *email);
            else if (is_gone)
                one->searched_to = std::max(one->searched_to, sequence);
        }
    }
}

awaitable<result<std::shared_ptr<const std::string>>>
read_whole(account_id account, std::string email_id, inbox_client& inboxes, response_budget& memory)
{
    inbox::v1::GetEmailRequest request;
    request.set_account_id(account.text());
    request.set_email_id(std::move(email_id));
    auto email = co_await read_counted(inboxes, inbox_methods::get_email, std::move(request),
                                       memory, account);
    if (!email)
        co_return email.error();

    const auto json = std::make_shared<counted_json>();
    json->text = to_json(email->found.email());
    email->counted.reset(); // only the JSON is left
    if (json->text.size() > small_response) {
        json->counted = memory.try_reserve(account, json->text.size());
        if (!json->counted)
            co_return out_of_memory_failure();
    }
    co_return std::shared_ptr<const std::string>(json, &json->text);
}

void inbox_poller::finish(poll_waiter& one, long_poll_outcome end, email_json email)
{
    long_poll_result final_result;
    final_result.end = end;
    final_result.email = std::move(email);
    final_result.last_sequence = last_sequence_;
    final_result.near_misses = one.near_misses;
    final_result.matching = one.matching;
    final_result.searched_to = one.searched_to;
    one.finish(std::move(final_result));
}

} // namespace tempinbox::gateway
