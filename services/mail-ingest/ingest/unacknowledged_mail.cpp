#include "mail-ingest/ingest/unacknowledged_mail.hpp"

#include "common/log/log.hpp"

namespace tempinbox::mail_ingest {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto heartbeat_interval = 5s;
constexpr auto ready_timeout = 10s;
constexpr std::size_t max_pending = 10'000;

} // namespace

unacknowledged_mail::unacknowledged_mail(runtime::host& host, mailbox::ingest_repository& store,
                                         std::string replica)
    : store_(store),
      replica_(std::move(replica)),
      dropped_(host.metrics().counter(
          "tempinbox_mail_ingest_unacknowledged_dropped_total",
          "Stored emails dropped from the dedup though their sender may send them again")),
      in_flight_(host),
      ready_(host.executor()),
      ready_by_(async::deadline::after(ready_timeout)),
      task_(host.executor(), host.metrics(), "store_unacknowledged_mail", [this] { return tick(); })
{}

void unacknowledged_mail::note(std::shared_ptr<in_flight_message> mail)
{
    const auto count = mail->emails.size();
    if (count == 0)
        return;
    if (pending_emails_ + count > max_pending) {
        dropped_.Increment(static_cast<double>(count));
        if (const auto dropped = warnings_.pass(count, steady::now()))
            log::warning("unacknowledged mail dropped, too much waits to be stored: if sent again "
                         "it will be stored twice",
                         {{"emails", *dropped}, {"waiting", pending_emails_}});
        return;
    }
    mail->lose_sender();
    pending_.push_back(std::move(mail));
    pending_emails_ += count;
    task_.wake();
}

awaitable<bool> unacknowledged_mail::is_ready()
{
    if (has_signed_on_)
        co_return true;
    co_return co_await ready_.wait_until(ready_by_);
}

awaitable<std::chrono::microseconds> unacknowledged_mail::tick()
{
    if (!has_signed_on_) {
        co_await store_.sign_on(replica_);
        has_signed_on_ = true;
        ready_.set();
        next_heartbeat_ = steady::now() + heartbeat_interval;
    }
    co_await flush();
    if (steady::now() >= next_heartbeat_) {
        co_await store_.heartbeat(replica_);
        next_heartbeat_ = steady::now() + heartbeat_interval;
    }
    co_return std::chrono::duration_cast<std::chrono::microseconds>(next_heartbeat_ -
                                                                    steady::now());
}

awaitable<void> unacknowledged_mail::flush()
{
    if (pending_.empty())
        co_return;
    const auto count = static_cast<std::ptrdiff_t>(pending_.size());
    std::vector<mailbox::email_key> emails;
    for (const auto& one : pending_)
        emails.insert(emails.end(), one->emails.begin(), one->emails.end());
    const auto emails_written = emails.size();
    co_await store_.mark_unacknowledged(std::move(emails));
    pending_.erase(pending_.begin(), pending_.begin() + count);
    pending_emails_ -= emails_written;
}

awaitable<void> unacknowledged_mail::stop()
{
    co_await task_.stop();
    try {
        co_await flush();
        if (has_signed_on_)
            co_await store_.sign_off(replica_);
    } catch (const std::exception& error) {
        // At the end of the process nobody is left to try again; a repeat may become a second
        // email.
        log::warning("unacknowledged mail not stored", {{"error", error.what()}});
    }
}

} // namespace tempinbox::mail_ingest
