#include "inbox/lifecycle/retention.hpp"

namespace tempinbox::inbox {
namespace {

// Between full batches, so that requests go first.
constexpr std::chrono::milliseconds batch_delay{10};

constexpr const char* deleted_help =
    "Emails of live inboxes that their retention deleted, by reason";

} // namespace

retention::retention(runtime::host& host, mailbox::retention_repository& repository,
                     mailbox::inbox_bounds bounds, std::chrono::milliseconds interval)
    : repository_(repository),
      bounds_(bounds),
      interval_(interval),
      trimmed_(host.metrics().counter("tempinbox_inbox_emails_dropped_total", deleted_help,
                                      {{"reason", "full"}})),
      aged_(host.metrics().counter("tempinbox_inbox_emails_dropped_total", deleted_help,
                                   {{"reason", "age"}})),
      trim_task_(host.executor(), host.metrics(), "trim_inboxes", [this] { return trim(); }),
      age_task_(host.executor(), host.metrics(), "delete_old_mail", [this] { return delete_old(); })
{}

void retention::start()
{
    trim_task_.start();
    age_task_.start();
}

awaitable<void> retention::stop()
{
    co_await trim_task_.stop();
    co_await age_task_.stop();
}

std::chrono::microseconds retention::delay_after(const mailbox::retention_batch& batch) const
{
    return batch.is_full ? batch_delay : interval_;
}

awaitable<std::chrono::microseconds> retention::trim()
{
    if (bounds_.emails <= 0 && bounds_.bytes <= 0)
        co_return interval_;
    const auto batch = co_await repository_.trim(bounds_);
    trimmed_.Increment(static_cast<double>(batch.emails));
    co_return delay_after(batch);
}

awaitable<std::chrono::microseconds> retention::delete_old()
{
    const auto batch = co_await repository_.delete_old();
    aged_.Increment(static_cast<double>(batch.emails));
    co_return delay_after(batch);
}

} // namespace tempinbox::inbox
