#include "inbox/lifecycle/purge.hpp"

namespace tempinbox::inbox {
namespace {

// Between full batches, so that requests go first.
constexpr std::chrono::milliseconds batch_delay{10};

} // namespace

purge::purge(runtime::host& host, mailbox::purge_repository& repository,
             outbox::publisher& publisher, std::chrono::milliseconds interval,
             std::chrono::seconds retention)
    : repository_(repository),
      publisher_(publisher),
      interval_(interval),
      retention_(retention),
      emails_(host.metrics().counter("tempinbox_inbox_emails_purged_total",
                                     "Emails of ended inboxes purged")),
      bodies_(host.metrics().counter("tempinbox_inbox_bodies_purged_total",
                                     "Bodies that no email needed any more, purged")),
      mail_task_(host.executor(), host.metrics(), "purge_mail", [this] { return purge_mail(); }),
      inbox_task_(host.executor(), host.metrics(), "purge_inboxes",
                  [this] { return purge_inboxes(); })
{}

void purge::start()
{
    mail_task_.start();
    inbox_task_.start();
}

awaitable<void> purge::stop()
{
    co_await mail_task_.stop();
    co_await inbox_task_.stop();
}

awaitable<std::chrono::microseconds> purge::purge_mail()
{
    const auto batch = co_await repository_.purge_mail();
    emails_.Increment(static_cast<double>(batch.emails));
    bodies_.Increment(static_cast<double>(batch.bodies));
    co_return batch.is_full ? batch_delay : interval_;
}

awaitable<std::chrono::microseconds> purge::purge_inboxes()
{
    auto batch = co_await repository_.purge_inboxes(retention_);
    publisher_.publish(std::move(batch.events));
    co_return batch.is_full ? batch_delay : std::chrono::milliseconds(std::chrono::minutes(1));
}

} // namespace tempinbox::inbox
