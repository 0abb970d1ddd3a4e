#include "inbox/purge.hpp"

namespace tempinbox::inbox {
namespace {

// Between full batches: the requests of others go first.
constexpr std::chrono::milliseconds breath{10};

} // namespace

purge::purge(runtime::host& host, mailbox::purge_store& store, std::chrono::milliseconds interval,
             std::chrono::seconds kept)
    : store_(store),
      interval_(interval),
      kept_(kept),
      emails_(host.metrics().counter("tempinbox_inbox_purged_emails_total",
                                     "Emails of ended inboxes taken from the disk.")),
      bodies_(host.metrics().counter("tempinbox_inbox_purged_bodies_total",
                                     "Bodies that no email needed any more, taken from the disk.")),
      mail_task_(host, "mail of ended inboxes not purged", [this] { return purge_mail(); }),
      inbox_task_(host, "ended inboxes not forgotten", [this] { return forget_inboxes(); })
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
    const auto batch = co_await store_.purge_mail();
    emails_.Increment(static_cast<double>(batch.emails));
    bodies_.Increment(static_cast<double>(batch.bodies));
    co_return batch.is_full ? breath : interval_;
}

awaitable<std::chrono::microseconds> purge::forget_inboxes()
{
    const auto batch = co_await store_.forget_inboxes(kept_);
    co_return batch.is_full ? breath : std::chrono::milliseconds(std::chrono::minutes(1));
}

} // namespace tempinbox::inbox
