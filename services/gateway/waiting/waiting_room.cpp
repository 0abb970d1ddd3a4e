#include "gateway/waiting/waiting_room.hpp"

#include "common/events/events.hpp"

#include <algorithm>
#include <string>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 1s;
// Inboxes are looked at when their second is over, a part of them at a time.
constexpr auto round_interval = 100ms;
// Few enough that events are handled in between.
constexpr std::size_t inboxes_at_a_time = 250;

} // namespace

// A waiter's place: left however the wait ends.
class waiting_room::place
{
public:
    place(waiting_room& room, std::shared_ptr<inbox_watch> watch, std::shared_ptr<waiter> one)
        : room_(room),
          presence_(room.presence_),
          watch_(std::move(watch)),
          one_(std::move(one))
    {
        room_.waiting_.Set(static_cast<double>(++room_.waiters_));
        ++room_.count_of(one_->wish);
        watch_->add(one_);
    }
    place(const place&) = delete;
    ~place()
    {
        if (!presence_.expired())
            room_.leave(watch_, one_);
    }

private:
    waiting_room& room_;
    std::weak_ptr<const bool> presence_;
    std::shared_ptr<inbox_watch> watch_;
    std::shared_ptr<waiter> one_;
};

waiting_room::waiting_room(runtime::host& host, wait_sources sources, wait_bounds bounds,
                           std::chrono::milliseconds last_look_patience)
    : host_(host),
      sources_(std::move(sources)),
      bounds_(bounds),
      last_look_patience_(last_look_patience),
      waiting_(host.metrics().gauge("tempinbox_gateway_waiting_requests",
                                    "Requests that wait for mail")),
      looks_(host, "those who wait cannot look for their mail", [this] { return look_at_all(); })
{}

void waiting_room::start()
{
    looks_.start();
}

awaitable<void> waiting_room::stop()
{
    return looks_.stop();
}

awaitable<result<wait_answer>>
waiting_room::wait(wait_wish wish, std::chrono::milliseconds patience, http::request& received)
{
    if (auto refused = refuse(wish))
        co_return std::move(*refused);
    const auto deadline = clock::now() + patience;
    const auto watch = find_watch(wish.account, wish.inbox);
    const auto one = std::make_shared<waiter>(host_.executor(), std::move(wish));
    if (is_ending_)
        one->last_look = wait_end::interrupted;
    const place taken(*this, watch, one);
    received.on_hang_up = [waiting = std::weak_ptr(one)] {
        if (const auto alone = waiting.lock())
            alone->finish(wait_answer());
    };

    bool is_answered = co_await one->done.wait_until(deadline);
    if (!is_answered) {
        // Mail that came at the last moment counts: the time is over when a look after it found
        // nothing.
        if (!one->last_look)
            one->last_look = wait_end::timeout;
        watch->look();
        is_answered = co_await one->done.wait_until(clock::now() + last_look_patience_);
    }
    received.on_hang_up = nullptr;
    if (!is_answered)
        watch->interrupt(*one);
    co_return std::move(*one->answer);
}

std::optional<failure> waiting_room::refuse(const wait_wish& wish) const
{
    if (waiters_ >= bounds_.in_all)
        return failure{errc::unavailable, "Too many requests wait for mail here; try again"};
    const auto found = by_account_.find(wish.account);
    if (found == by_account_.end())
        return std::nullopt;
    const auto& waits = found->second;
    if (wish.is_of_session && waits.by_session >= bounds_.of_sessions)
        return failure{errc::rate_limited,
                       "At most " + std::to_string(bounds_.of_sessions) +
                           " requests of an account's sessions can wait for mail at once"};
    auto most = bounds_.of_account;
    if (!wish.is_of_session && wish.burst_per_second > 0)
        most = std::min(most, bounds_.for_each_of_burst *
                                  static_cast<std::size_t>(wish.burst_per_second));
    if (waits.by_key + waits.by_session >= most)
        return failure{errc::rate_limited,
                       "At most " + std::to_string(most) +
                           " requests of this account can wait for mail at once"};
    return std::nullopt;
}

std::size_t& waiting_room::count_of(const wait_wish& wish)
{
    auto& waits = by_account_[wish.account];
    return wish.is_of_session ? waits.by_session : waits.by_key;
}

std::shared_ptr<inbox_watch> waiting_room::find_watch(account_id account, inbox_id inbox)
{
    const auto [first, last] = watches_.equal_range(inbox);
    const auto found = std::find_if(
        first, last, [&](const auto& entry) { return entry.second->account() == account; });
    if (found != last)
        return found->second;
    return watches_
        .emplace(inbox, std::make_shared<inbox_watch>(host_.executor(), sources_, account, inbox))
        ->second;
}

void waiting_room::leave(const std::shared_ptr<inbox_watch>& watch,
                         const std::shared_ptr<waiter>& gone)
{
    waiting_.Set(static_cast<double>(--waiters_));
    --count_of(gone->wish);
    if (const auto waits = by_account_.find(gone->wish.account);
        waits->second.by_key + waits->second.by_session == 0)
        by_account_.erase(waits);
    watch->remove(gone);
    if (!watch->is_empty())
        return;
    const auto [first, last] = watches_.equal_range(watch->inbox());
    const auto found =
        std::find_if(first, last, [&](const auto& entry) { return entry.second == watch; });
    if (found != last)
        watches_.erase(found);
}

void waiting_room::take_events(const std::vector<kafka::record>& batch)
{
    if (watches_.empty())
        return;
    for (const auto& event : batch)
        take_event(event);
}

void waiting_room::take_event(const kafka::record& event)
{
    const auto inbox = inbox_id::parse(event.key);
    if (!inbox)
        return;
    const auto [first, last] = watches_.equal_range(*inbox);
    if (first == last)
        return;
    const auto email = event.topic == events::topics::email_received
                           ? events::read_email_received(event)
                           : result<events::v1::EmailReceived>(failure());
    for (auto entry = first; entry != last; ++entry) {
        if (email)
            entry->second->note_email(email->sequence());
        else
            entry->second->look(); // ended, or not to be understood: the look knows
    }
}

void waiting_room::interrupt()
{
    is_ending_ = true;
    for (const auto& [inbox, watch] : watches_)
        watch->interrupt();
}

awaitable<std::chrono::microseconds> waiting_room::look_at_all()
{
    const auto before = clock::now() - look_interval;
    std::vector<std::shared_ptr<inbox_watch>> due;
    for (const auto& [inbox, watch] : watches_) {
        if (!watch->is_due(before))
            continue;
        if (watch->needs_look())
            watch->look();
        else
            due.push_back(watch);
    }
    for (std::size_t at = 0; at < due.size(); at += inboxes_at_a_time) {
        const auto first = due.begin() + static_cast<std::ptrdiff_t>(at);
        const auto last =
            due.begin() + static_cast<std::ptrdiff_t>(std::min(due.size(), at + inboxes_at_a_time));
        std::vector<std::shared_ptr<inbox_watch>> part(first, last);
        if (!co_await look_at(std::move(part)))
            co_return look_interval;
    }
    co_return round_interval;
}

awaitable<bool> waiting_room::look_at(std::vector<std::shared_ptr<inbox_watch>> part)
{
    inbox::v1::GetLastSequencesRequest request;
    for (const auto& watch : part) {
        auto& name = *request.add_inboxes();
        name.set_account_id(watch->account().text());
        name.set_inbox_id(watch->inbox().text());
    }
    auto call = sources_.last_sequences(std::move(request));
    const auto answer = co_await std::move(call);
    if (!answer)
        co_return false;
    for (std::size_t i = 0; i < part.size() && static_cast<int>(i) < answer->last_sequences_size();
         ++i)
        part[i]->note_position(answer->last_sequences(static_cast<int>(i)));
    co_return true;
}

} // namespace tempinbox::gateway
