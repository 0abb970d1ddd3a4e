#include "webhook-dispatcher/endpoints/failure_watch.hpp"

#include "common/log/log.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

constexpr std::chrono::seconds pause{10};
constexpr const char* reason = "every attempt failed for five days";

} // namespace

failure_watch::failure_watch(runtime::host& host, failure_store& failures,
                             endpoint_store& endpoints)
    : failures_(failures),
      endpoints_(endpoints),
      looking_(host, "failing webhooks not looked at", [this] { return look_again(); })
{}

void failure_watch::note(const delivery_outcome& outcome)
{
    if (!outcome.has_attempt || outcome.next == delivery_outcome::state::succeeded)
        return;
    auto& count = noted_[outcome.webhook];
    if (count.failures == 0) {
        count.account = outcome.account;
        count.webhook = outcome.webhook;
        count.first = outcome.at;
    }
    ++count.failures;
    count.last = std::max(count.last, outcome.at);
}

std::vector<failure_count> failure_watch::take_counts()
{
    std::vector<failure_count> counts;
    counts.reserve(noted_.size());
    for (const auto& [webhook, count] : noted_)
        counts.push_back(count);
    noted_.clear();
    return counts;
}

awaitable<void> failure_watch::look()
{
    auto counts = take_counts();
    if (!counts.empty())
        co_await failures_.add(std::move(counts));
    const auto hopeless = co_await failures_.find_hopeless();
    for (const auto& found : hopeless) {
        co_await endpoints_.disable(found.account, found.webhook, reason);
        co_await failures_.forget(found.webhook); // switched on again, it has five days again
        log::info("webhook switched off",
                  {{"webhook_id", found.webhook.text()}, {"reason", reason}});
    }
}

awaitable<std::chrono::microseconds> failure_watch::look_again()
{
    co_await look();
    co_return pause;
}

} // namespace tempinbox::webhooks
