#include "gateway/waiting/inbox_watch.hpp"

#include "gateway/api/counted_reading.hpp"
#include "gateway/api/json.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <map>

namespace tempinbox::gateway {
namespace {

// What one call to the inbox service takes.
constexpr std::size_t searches_at_a_time = 100;
constexpr std::size_t most_near_misses = 10;

// An email as JSON, counted until the last of those who get it lets go of it.
struct counted_json
{
    std::string text;
    answer_memory::reservation counted;
};

} // namespace

// Those who look for the same from the same place on, and whether this look is the last one for
// each.
struct inbox_watch::group
{
    std::int64_t after = 0;
    inbox::v1::EmailFilter filter;
    std::vector<std::pair<std::shared_ptr<waiter>, bool>> members;

    group() = default;
};

inbox_watch::inbox_watch(boost::asio::any_io_executor executor, const wait_sources& sources,
                         account_id account, inbox_id inbox)
    : executor_(std::move(executor)),
      sources_(sources),
      account_(account),
      inbox_(inbox)
{}

void inbox_watch::add(const std::shared_ptr<waiter>& fresh)
{
    waiters_.insert(fresh);
    look();
}

void inbox_watch::remove(const std::shared_ptr<waiter>& gone)
{
    waiters_.erase(gone);
}

void inbox_watch::look()
{
    wants_look_ = true;
    if (is_looking_)
        return;
    is_looking_ = true;
    boost::asio::co_spawn(executor_, run(shared_from_this()), boost::asio::detached);
}

void inbox_watch::note_email(std::int64_t sequence)
{
    if (sequence > last_sequence_)
        look();
}

void inbox_watch::note_position(std::int64_t last_sequence)
{
    if (last_sequence < 0) {
        end();
        return;
    }
    known_at_ = clock::now();
    note_email(last_sequence);
}

// Who was not looked for yet is told by the look, which knows whether there ever was such an inbox.
void inbox_watch::end()
{
    known_at_ = clock::now();
    for (const auto& one : waiters_)
        if (one->was_looked_for)
            finish(*one, wait_end::interrupted);
}

void inbox_watch::interrupt()
{
    for (const auto& one : waiters_) {
        one->last_look = wait_end::interrupted;
        if (one->was_looked_for)
            finish(*one, wait_end::interrupted);
    }
}

awaitable<void> inbox_watch::run(std::shared_ptr<inbox_watch> self)
{
    while (self->wants_look_ && !self->waiters_.empty()) {
        self->wants_look_ = false;
        std::string problem;
        try {
            co_await self->look_once();
        } catch (const std::exception& error) {
            problem = error.what();
        }
        if (!problem.empty())
            self->fail(failure{errc::internal, problem});
    }
    self->is_looking_ = false;
}

awaitable<void> inbox_watch::look_once()
{
    auto all = gather();
    has_failed_ = false;
    known_at_ = clock::now();
    while (!all.empty()) {
        const auto first = all.size() - std::min(all.size(), searches_at_a_time);
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
        groups part(std::make_move_iterator(from), std::make_move_iterator(all.end()));
        all.erase(from, all.end());
        if (!co_await look_for(part))
            break;
    }
}

inbox_watch::groups inbox_watch::gather() const
{
    std::map<std::pair<std::int64_t, std::string_view>, group> by_search;
    for (const auto& one : waiters_) {
        if (one->answer)
            continue;
        auto& same = by_search[{one->judged_to, one->filter_text}];
        same.after = one->judged_to;
        same.filter = one->wish.filter;
        same.members.emplace_back(one, one->last_look.has_value());
    }
    groups all;
    for (auto& [search, members] : by_search)
        all.push_back(std::move(members));
    return all;
}

// False when the inbox service did not answer: the look is over.
awaitable<bool> inbox_watch::look_for(groups& part)
{
    inbox::v1::FindFirstEmailsRequest request;
    request.set_account_id(account_.text());
    request.set_inbox_id(inbox_.text());
    for (const auto& each : part) {
        auto& search = *request.add_searches();
        search.set_after(each.after);
        *search.mutable_filter() = each.filter;
    }
    auto call = sources_.find_first(std::move(request));
    const auto found = co_await std::move(call);
    if (!found) {
        fail(found.error());
        co_return false;
    }
    last_sequence_ = std::max(last_sequence_, found->last_sequence());
    // Each email is read once for all who get it, and let go of before the next is read.
    std::map<std::string, std::vector<std::pair<group*, std::int64_t>>> by_email;
    for (std::size_t i = 0; i < part.size() && static_cast<int>(i) < found->results_size(); ++i) {
        const auto& result = found->results(static_cast<int>(i));
        settle(part[i], result, found->last_sequence());
        if (!result.email_id().empty())
            by_email[result.email_id()].emplace_back(&part[i], result.searched_to());
    }
    for (auto& [email_id, groups_of_it] : by_email)
        co_await hand_out(email_id, std::move(groups_of_it));
    co_return true;
}

void inbox_watch::fail(const failure& reason)
{
    has_failed_ = true;
    for (const auto& one : waiters_) {
        if (!one->was_looked_for)
            one->finish(reason);
        else if (reason.code == errc::not_found || one->last_look)
            finish(*one, wait_end::interrupted);
    }
}

// What a search without an email leaves behind; with one, all but that email.
void inbox_watch::settle(group& judged, const inbox::v1::EmailSearchResult& result,
                         std::int64_t last_sequence)
{
    const bool has_email = !result.email_id().empty();
    const bool is_whole = result.searched_to() >= last_sequence;
    for (const auto& [one, is_last] : judged.members) {
        one->judged_to =
            std::max(one->judged_to, has_email ? result.searched_to() - 1 : result.searched_to());
        auto& misses = one->near_misses;
        misses.insert(misses.end(), result.near_misses().begin(), result.near_misses().end());
        if (misses.size() > most_near_misses)
            misses.erase(misses.begin(), misses.end() - most_near_misses);
        if (has_email)
            continue;
        if (!is_whole) {
            wants_look_ = true; // a look ends after so many emails
            continue;
        }
        one->was_looked_for = true;
        if (one->last_look && (is_last || one->last_look == wait_end::interrupted))
            finish(*one, *one->last_look);
    }
}

// Those who found the email get it. Where it was deleted since they look further; where it cannot
// be had the look has failed.
awaitable<void> inbox_watch::hand_out(std::string email_id,
                                      std::vector<std::pair<group*, std::int64_t>> found)
{
    const auto email = co_await read(std::move(email_id));
    const bool is_gone = !email && email.error().code == errc::not_found;
    if (is_gone)
        wants_look_ = true;
    else if (!email)
        fail(email.error());
    for (const auto& [same, sequence] : found) {
        for (const auto& [one, is_last] : same->members) {
            if (email)
                finish(*one, wait_end::matched, *email);
            else if (is_gone)
                one->judged_to = std::max(one->judged_to, sequence);
        }
    }
}

awaitable<result<inbox_watch::email_json>> inbox_watch::read(std::string email_id)
{
    inbox::v1::GetEmailRequest request;
    request.set_account_id(account_.text());
    request.set_email_id(std::move(email_id));
    const take_answer_memory take = [this](std::size_t bytes) {
        return sources_.take_memory(account_, bytes);
    };
    auto reading = read_counted(std::move(request), sources_.find_email, take);
    auto email = co_await std::move(reading);
    if (!email)
        co_return email.error();

    const auto json = std::make_shared<counted_json>();
    json->text = to_json(email->found.email());
    email->counted.reset(); // one copy is left
    if (json->text.size() > small_answer) {
        json->counted = take(json->text.size());
        if (!json->counted)
            co_return no_room_for_answer();
    }
    co_return email_json(json, &json->text);
}

void inbox_watch::finish(waiter& one, wait_end end, email_json email)
{
    wait_answer answer;
    answer.end = end;
    answer.email = std::move(email);
    answer.last_sequence = last_sequence_;
    answer.near_misses = one.near_misses;
    one.finish(std::move(answer));
}

} // namespace tempinbox::gateway
