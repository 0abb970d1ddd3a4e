#include "gateway/long_poll/long_poll_hub.hpp"

#include "common/events/events.hpp"

#include <algorithm>
#include <string>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 1s;
// At each tick those inboxes are polled whose second is over.
constexpr auto tick_interval = 100ms;
// Few enough that events are handled between two calls.
constexpr std::size_t max_inboxes_per_call = 250;

} // namespace

// A place among the waiting requests; freed however the wait ends.
class long_poll_hub::counted_wait
{
public:
    counted_wait(long_poll_hub& hub, account_id account, bool is_of_session)
        : hub_(hub),
          presence_(hub.presence_),
          account_(account),
          is_of_session_(is_of_session)
    {
        hub_.waiting_requests_.Set(static_cast<double>(++hub_.waiters_));
        ++hub_.count_of(account_, is_of_session_);
    }
    counted_wait(const counted_wait&) = delete;
    ~counted_wait()
    {
        if (!presence_.expired())
            hub_.give_back(account_, is_of_session_);
    }

private:
    long_poll_hub& hub_;
    std::weak_ptr<const bool> presence_;
    account_id account_;
    bool is_of_session_;
};

// A waiter's place in the hub and with its poller.
class long_poll_hub::slot
{
public:
    slot(long_poll_hub& hub, std::shared_ptr<inbox_poller> poller, std::shared_ptr<poll_waiter> one)
        : hub_(hub),
          presence_(hub.presence_),
          poller_(std::move(poller)),
          one_(std::move(one)),
          taken_(hub, one_->request.account, one_->request.is_of_session)
    {
        poller_->add(one_);
    }
    slot(const slot&) = delete;
    ~slot()
    {
        if (!presence_.expired())
            hub_.leave(poller_, one_);
    }

private:
    long_poll_hub& hub_;
    std::weak_ptr<const bool> presence_;
    std::shared_ptr<inbox_poller> poller_;
    std::shared_ptr<poll_waiter> one_;
    counted_wait taken_;
};

long_poll_hub::long_poll_hub(runtime::host& host, inbox_client& inboxes, response_budget& memory,
                             long_poll_limits bounds, std::chrono::milliseconds final_poll_timeout)
    : host_(host),
      inboxes_(inboxes),
      memory_(memory),
      bounds_(bounds),
      final_poll_timeout_(final_poll_timeout),
      waiting_requests_(host.metrics().gauge("tempinbox_gateway_waiting_requests",
                                             "Requests that wait for mail or events")),
      poll_task_(host.executor(), host.metrics(), "poll_inboxes", [this] { return poll_all(); })
{}

void long_poll_hub::start()
{
    poll_task_.start();
}

awaitable<void> long_poll_hub::stop()
{
    return poll_task_.stop();
}

awaitable<result<long_poll_result>> long_poll_hub::wait(long_poll_request request,
                                                        std::chrono::milliseconds timeout,
                                                        http::request& received)
{
    if (auto refused = refuse(request.account, request.burst_per_second, request.is_of_session))
        co_return std::move(*refused);
    const auto deadline = clock::now() + timeout;
    const auto poller = find_poller(request.account, request.inbox);
    const auto one = std::make_shared<poll_waiter>(host_.executor(), std::move(request));
    if (is_ending_)
        one->final_outcome = long_poll_outcome::draining;
    const slot taken(*this, poller, one);
    received.on_hang_up = [weak_waiter = std::weak_ptr(one)] {
        if (const auto alone = weak_waiter.lock())
            alone->finish(long_poll_result());
    };

    bool is_answered = co_await one->done.wait_until(deadline);
    if (!is_answered) {
        // Mail that came at the last moment counts: a wait times out only after a poll that began
        // after its deadline found nothing.
        if (!one->final_outcome)
            one->final_outcome = long_poll_outcome::timeout;
        poller->poll();
        is_answered = co_await one->done.wait_until(clock::now() + final_poll_timeout_);
    }
    received.on_hang_up = nullptr;
    if (!is_answered)
        inbox_poller::give_up(*one);
    co_return std::move(*one->final_result);
}

result<std::shared_ptr<const void>> long_poll_hub::take_slot(account_id account,
                                                             int burst_per_second)
{
    if (auto refused = refuse(account, burst_per_second, false))
        return std::move(*refused);
    return std::shared_ptr<const void>(std::make_shared<counted_wait>(*this, account, false));
}

std::optional<failure> long_poll_hub::refuse(account_id account, int burst_per_second,
                                             bool is_of_session) const
{
    if (waiters_ >= bounds_.in_all)
        return failure{errc::unavailable,
                       "Too many requests wait for mail or events here; try again",
                       error_reason::busy};
    const auto found = by_account_.find(account);
    if (found == by_account_.end())
        return std::nullopt;
    const auto& waits = found->second;
    if (is_of_session && waits.by_session >= bounds_.of_sessions)
        return failure{errc::rate_limited,
                       "At most " + std::to_string(bounds_.of_sessions) +
                           " requests of an account's sessions can wait for mail at once",
                       error_reason::wait_limit};
    auto max_waiting = bounds_.of_account;
    if (!is_of_session && burst_per_second > 0)
        max_waiting = std::min(max_waiting, bounds_.for_each_of_burst *
                                                static_cast<std::size_t>(burst_per_second));
    if (waits.by_key + waits.by_session >= max_waiting)
        return failure{errc::rate_limited,
                       "At most " + std::to_string(max_waiting) +
                           " requests of this account can wait for mail or events at once",
                       error_reason::wait_limit};
    return std::nullopt;
}

std::size_t& long_poll_hub::count_of(account_id account, bool is_of_session)
{
    auto& waits = by_account_[account];
    return is_of_session ? waits.by_session : waits.by_key;
}

void long_poll_hub::give_back(account_id account, bool is_of_session)
{
    waiting_requests_.Set(static_cast<double>(--waiters_));
    --count_of(account, is_of_session);
    if (const auto waits = by_account_.find(account);
        waits->second.by_key + waits->second.by_session == 0)
        by_account_.erase(waits);
}

std::shared_ptr<inbox_poller> long_poll_hub::find_poller(account_id account, inbox_id inbox)
{
    const auto [first, last] = pollers_.equal_range(inbox);
    const auto found = std::find_if(
        first, last, [&](const auto& entry) { return entry.second->account() == account; });
    if (found != last)
        return found->second;
    return pollers_
        .emplace(inbox, std::make_shared<inbox_poller>(host_.executor(), inboxes_, memory_, account,
                                                       inbox))
        ->second;
}

void long_poll_hub::leave(const std::shared_ptr<inbox_poller>& poller,
                          const std::shared_ptr<poll_waiter>& gone)
{
    poller->remove(gone);
    if (!poller->is_empty())
        return;
    const auto [first, last] = pollers_.equal_range(poller->inbox());
    const auto found =
        std::find_if(first, last, [&](const auto& entry) { return entry.second == poller; });
    if (found != last)
        pollers_.erase(found);
}

void long_poll_hub::take_events(const std::vector<kafka::record>& batch)
{
    if (pollers_.empty())
        return;
    for (const auto& event : batch)
        take_event(event);
}

void long_poll_hub::take_event(const kafka::record& event)
{
    const auto inbox = inbox_id::parse(event.key);
    if (!inbox)
        return;
    const auto [first, last] = pollers_.equal_range(*inbox);
    if (first == last)
        return;
    const auto email = event.topic == events::topics::inbox_activity
                           ? events::read_email_received(event)
                           : result<events::v1::EmailReceived>(failure());
    for (auto entry = first; entry != last; ++entry) {
        if (email)
            entry->second->note_email(email->sequence());
        else
            entry->second->poll(); // inbox.expired, or unreadable: the poll finds out
    }
}

void long_poll_hub::interrupt()
{
    is_ending_ = true;
    for (const auto& [inbox, poller] : pollers_)
        poller->interrupt();
}

awaitable<std::chrono::microseconds> long_poll_hub::poll_all()
{
    const auto before = clock::now() - poll_interval;
    std::vector<std::shared_ptr<inbox_poller>> due;
    for (const auto& [inbox, poller] : pollers_) {
        if (!poller->is_due(before))
            continue;
        if (poller->needs_poll())
            poller->poll();
        else
            due.push_back(poller);
    }
    for (std::size_t at = 0; at < due.size(); at += max_inboxes_per_call) {
        const auto first = due.begin() + static_cast<std::ptrdiff_t>(at);
        const auto last = due.begin() + static_cast<std::ptrdiff_t>(
                                            std::min(due.size(), at + max_inboxes_per_call));
        std::vector<std::shared_ptr<inbox_poller>> part(first, last);
        if (!co_await poll_part(std::move(part)))
            co_return poll_interval;
    }
    co_return tick_interval;
}

awaitable<bool> long_poll_hub::poll_part(std::vector<std::shared_ptr<inbox_poller>> part)
{
    inbox::v1::GetLastSequencesRequest request;
    for (const auto& poller : part) {
        auto& name = *request.add_inboxes();
        name.set_account_id(poller->account().text());
        name.set_inbox_id(poller->inbox().text());
    }
    const auto response =
        co_await inboxes_.call(inbox_methods::get_last_sequences, std::move(request));
    if (!response)
        co_return false;
    for (std::size_t i = 0;
         i < part.size() && static_cast<int>(i) < response->last_sequences_size(); ++i)
        part[i]->note_position(response->last_sequences(static_cast<int>(i)));
    co_return true;
}

} // namespace tempinbox::gateway
