#include "webhook-dispatcher/endpoints/auto_disable_monitor.hpp"

#include "common/log/log.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

constexpr std::chrono::seconds check_interval{10};
constexpr const char* reason = "every attempt failed for five days";

} // namespace

auto_disable_monitor::auto_disable_monitor(runtime::host& host, endpoint_repository& endpoints)
    : endpoints_(endpoints),
      checking_(host.executor(), host.metrics(), "check_failing_webhooks",
                [this] { return check_again(); })
{}

void auto_disable_monitor::note(const delivery_outcome& outcome)
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

std::vector<failure_count> auto_disable_monitor::take_counts()
{
    std::vector<failure_count> counts;
    counts.reserve(noted_.size());
    for (const auto& [webhook, count] : noted_)
        counts.push_back(count);
    noted_.clear();
    return counts;
}

awaitable<void> auto_disable_monitor::check()
{
    auto counts = take_counts();
    if (!counts.empty())
        co_await endpoints_.add_failures(std::move(counts));
    const auto failing = co_await endpoints_.find_failing();
    for (const auto& found : failing) {
        co_await endpoints_.disable(found.account, found.webhook, reason);
        // Once switched on again, it has five days anew.
        co_await endpoints_.clear_failures(found.account, found.webhook);
        log::info("webhook disabled", {{"webhook_id", found.webhook.text()}, {"reason", reason}});
    }
}

awaitable<std::chrono::microseconds> auto_disable_monitor::check_again()
{
    co_await check();
    co_return check_interval;
}

} // namespace tempinbox::webhooks
