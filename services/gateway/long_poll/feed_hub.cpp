#include "gateway/long_poll/feed_hub.hpp"

#include "common/events/events.hpp"

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 1s;
constexpr int max_accounts_per_call = 250;

} // namespace

feed_hub::watch::watch(feed_hub& hub, account_id account)
    : hub_(hub),
      presence_(hub.presence_),
      account_(account),
      has_ended_(hub.is_ending_),
      has_news_(hub.host_.executor(), async::reset_event::mode::automatic)
{
    hub_.watches_.emplace(account_, this);
    hub_.readers_.Set(static_cast<double>(hub_.watches_.size()));
}

feed_hub::watch::~watch()
{
    if (presence_.expired())
        return;
    const auto [first, last] = hub_.watches_.equal_range(account_);
    for (auto entry = first; entry != last; ++entry)
        if (entry->second == this) {
            hub_.watches_.erase(entry);
            break;
        }
    hub_.readers_.Set(static_cast<double>(hub_.watches_.size()));
}

awaitable<bool> feed_hub::watch::wait_beyond(feed_position known, clock::time_point deadline)
{
    const auto is_beyond = [this, known] {
        return latest_.epoch > known.epoch ||
               (latest_.epoch == known.epoch && latest_.position > known.position);
    };
    while (!has_ended_ && !is_beyond())
        if (!co_await has_news_.wait_until(deadline))
            break;
    co_return !has_ended_ && is_beyond();
}

void feed_hub::watch::end()
{
    has_ended_ = true;
    has_news_.set();
}

void feed_hub::watch::note(feed_position latest)
{
    if (latest == latest_)
        return;
    latest_ = latest;
    has_news_.set();
}

feed_hub::feed_hub(runtime::host& host, webhook_client& webhooks)
    : host_(host),
      webhooks_(webhooks),
      readers_(host.metrics().gauge("tempinbox_feed_readers", "Requests that wait for events")),
      readings_(
          host.executor(), {},
          [&webhooks](std::string request) { return read_once(webhooks, std::move(request)); }),
      poll_task_(host.executor(), host.metrics(), "poll_feeds", [this] { return poll_all(); })
{}

void feed_hub::start()
{
    poll_task_.start();
}

awaitable<void> feed_hub::stop()
{
    return poll_task_.stop();
}

awaitable<feed_hub::page> feed_hub::read(webhooks::v1::ReadEventsRequest request)
{
    // A hint may say more than a reading under way has seen: then the next reading sees it.
    auto found = co_await readings_.ask(request.SerializeAsString());
    co_return std::move(*found);
}

awaitable<feed_hub::page> feed_hub::read_once(webhook_client& webhooks, std::string request)
{
    webhooks::v1::ReadEventsRequest parsed;
    parsed.ParseFromString(request);
    auto found = co_await webhooks.call(webhook_methods::read_events, std::move(parsed));
    co_return std::make_shared<const result<webhooks::v1::ReadEventsResponse>>(std::move(found));
}

void feed_hub::take_events(const std::vector<kafka::record>& batch)
{
    if (watches_.empty())
        return;
    for (const auto& event : batch) {
        if (event.topic != events::topics::feed_activity)
            continue;
        if (const auto latest = events::read_feed_activity(event))
            note(*latest);
    }
}

void feed_hub::note(const webhooks::v1::FeedPosition& latest)
{
    const auto account = account_id::parse(latest.account_id());
    if (!account)
        return;
    const auto [first, last] = watches_.equal_range(*account);
    for (auto entry = first; entry != last; ++entry)
        entry->second->note({latest.epoch(), latest.position()});
}

void feed_hub::interrupt()
{
    is_ending_ = true;
    for (const auto& [account, reader] : watches_)
        reader->end();
}

awaitable<std::chrono::microseconds> feed_hub::poll_all()
{
    std::vector<webhooks::v1::GetPositionsRequest> parts;
    for (auto entry = watches_.begin(); entry != watches_.end();
         entry = watches_.equal_range(entry->first).second) {
        if (parts.empty() || parts.back().account_ids_size() == max_accounts_per_call)
            parts.emplace_back();
        parts.back().add_account_ids(entry->first.text());
    }
    for (auto& part : parts) {
        const auto found =
            co_await webhooks_.try_call(webhook_methods::get_positions, std::move(part));
        if (!found)
            break;
        for (const auto& latest : found->positions())
            note(latest);
    }
    co_return poll_interval;
}

} // namespace tempinbox::gateway
