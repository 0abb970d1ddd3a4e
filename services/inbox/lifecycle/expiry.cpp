#include "inbox/lifecycle/expiry.hpp"

#include "common/trace/current.hpp"
#include "inbox/lifecycle/change_policy.hpp"

namespace tempinbox::inbox {
namespace {

using namespace std::chrono_literals;

constexpr const char* ended_help = "Inboxes that ended, by reason";

} // namespace

std::chrono::microseconds delay_after(std::size_t ended,
                                      std::optional<std::chrono::microseconds> until_next_due)
{
    constexpr std::chrono::microseconds min_delay = 5ms, locked_delay = 20ms, max_delay = 1s;
    if (ended == mailbox::expiry_repository::batch_size)
        return 0us;
    if (!until_next_due)
        return max_delay;
    if (*until_next_due <= 0us)
        return locked_delay;
    return std::clamp(*until_next_due, min_delay, max_delay);
}

expiry::expiry(runtime::host& host, mailbox::expiry_repository& repository,
               outbox::publisher& publisher)
    : repository_(repository),
      publisher_(publisher),
      ended_by_ttl_(host.metrics().counter("tempinbox_inbox_inboxes_ended_total", ended_help,
                                           {{"reason", "ttl"}})),
      ended_by_owner_(host.metrics().counter("tempinbox_inbox_inboxes_ended_total", ended_help,
                                             {{"reason", "deleted"}})),
      delay_(host.metrics().histogram(
          "tempinbox_inbox_expiry_delay_seconds",
          "Time from an inbox's due time to its end, for the oldest of each batch",
          metrics::wait_buckets())),
      task_(host.executor(), host.metrics(), "expire_inboxes", [this] { return tick(); }),
      deleted_task_(host.executor(), host.metrics(), "end_inboxes_of_deleted_accounts",
                    [this] { return end_of_deleted(); }),
      ends_(host.executor(), change_policy, "inboxes not ended",
            [this](std::vector<mailbox::inbox_end> requested) {
                return end_all(std::move(requested));
            })
{}

void expiry::start()
{
    task_.start();
    deleted_task_.start();
}

awaitable<void> expiry::stop()
{
    co_await task_.stop();
    co_await deleted_task_.stop();
}

awaitable<result<void>> expiry::end(account_id account, inbox_id id)
{
    // The batch has no trace, but each inbox's events belong to the request's.
    mailbox::inbox_end requested{account, id, trace::current_or_new()};
    auto batch = co_await ends_.ask(std::move(requested));
    if (!batch)
        co_return failure(errc::unavailable, "Inboxes cannot be ended now; try again");
    co_return std::move(*batch);
}

// Publishes the events here, since whoever asked may have given up by now.
awaitable<std::vector<result<void>>> expiry::end_all(std::vector<mailbox::inbox_end> requested)
{
    auto batches = co_await repository_.expire_all(std::move(requested));
    std::vector<result<void>> ended;
    ended.reserve(batches.size());
    std::vector<outbox::row> events;
    for (auto& one : batches) {
        if (!one) {
            ended.emplace_back(one.error());
            continue;
        }
        ended_by_owner_.Increment();
        std::move(one->events.begin(), one->events.end(), std::back_inserter(events));
        ended.emplace_back();
    }
    if (!events.empty())
        publisher_.publish(std::move(events));
    co_return ended;
}

awaitable<std::int64_t> expiry::end_tagged(account_id account, std::vector<std::string> tags)
{
    std::int64_t ended = 0;
    bool is_full = true;
    while (is_full) {
        auto batch = co_await repository_.expire_tagged(account, tags);
        is_full = batch.ended.size() == mailbox::expiry_repository::batch_size;
        ended += static_cast<std::int64_t>(batch.ended.size());
        publisher_.publish(std::move(batch.events));
    }
    ended_by_owner_.Increment(static_cast<double>(ended));
    co_return ended;
}

awaitable<std::chrono::microseconds> expiry::tick()
{
    auto batch = co_await repository_.expire_due();
    if (!batch.ended.empty()) {
        ended_by_ttl_.Increment(static_cast<double>(batch.ended.size()));
        delay_.Observe(std::chrono::duration<double>(batch.oldest_delay).count());
        publisher_.publish(std::move(batch.events));
    }
    if (batch.ended.size() == mailbox::expiry_repository::batch_size)
        co_return delay_after(batch.ended.size(), std::nullopt);
    const auto until_next_due = co_await repository_.until_next_due();
    co_return delay_after(batch.ended.size(), until_next_due);
}

// Also handles accounts that another process marked, or that it marked before it died.
awaitable<std::chrono::microseconds> expiry::end_of_deleted()
{
    constexpr std::chrono::milliseconds locked_delay{20}, interval{1'000};
    auto batch = co_await repository_.expire_of_deleted();
    ended_by_owner_.Increment(static_cast<double>(batch.ended.size()));
    publisher_.publish(std::move(batch.events));
    if (!batch.has_more_of_deleted)
        co_return interval;
    co_return batch.ended.empty() ? locked_delay : std::chrono::milliseconds(0);
}

} // namespace tempinbox::inbox
