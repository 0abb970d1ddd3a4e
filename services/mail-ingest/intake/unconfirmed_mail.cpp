#include "mail-ingest/intake/unconfirmed_mail.hpp"

#include "common/log/log.hpp"

namespace tempinbox::mail_ingest {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto between_beats = 5s;
constexpr auto patience = 10s;
constexpr std::size_t most_noted = 10'000;

} // namespace

unconfirmed_mail::unconfirmed_mail(runtime::host& host, mailbox::unconfirmed_store& store,
                                   std::string replica)
    : store_(store),
      replica_(std::move(replica)),
      forgotten_(host.metrics().counter(
          "tempinbox_mail_ingest_unconfirmed_forgotten_total",
          "Stored emails whose sender may send again, no longer remembered.")),
      undecided_(host),
      ready_(host.executor(), patience),
      task_(host, "unconfirmed mail not written down", [this] { return round(); })
{}

void unconfirmed_mail::note(std::shared_ptr<undecided_mail> mail)
{
    const auto count = mail->emails.size();
    if (count == 0)
        return;
    if (noted_emails_ + count > most_noted) {
        forgotten_.Increment(static_cast<double>(count));
        if (const auto forgotten = warnings_.pass(count, steady::now()))
            log::warning("unconfirmed mail not remembered, too much waits to be written down: sent "
                         "again it will be stored twice",
                         {{"emails", *forgotten}, {"waiting", noted_emails_}});
        return;
    }
    mail->lose_sender();
    noted_.push_back(std::move(mail));
    noted_emails_ += count;
    task_.wake();
}

awaitable<bool> unconfirmed_mail::is_ready()
{
    if (has_signed_on_)
        co_return true;
    co_return co_await ready_.wait();
}

awaitable<std::chrono::microseconds> unconfirmed_mail::round()
{
    if (!has_signed_on_) {
        co_await store_.sign_on(replica_);
        has_signed_on_ = true;
        ready_.reach();
        next_beat_ = steady::now() + between_beats;
    }
    co_await write_down();
    if (steady::now() >= next_beat_) {
        co_await store_.beat(replica_);
        next_beat_ = steady::now() + between_beats;
    }
    co_return std::chrono::duration_cast<std::chrono::microseconds>(next_beat_ - steady::now());
}

awaitable<void> unconfirmed_mail::write_down()
{
    if (noted_.empty())
        co_return;
    const auto count = static_cast<std::ptrdiff_t>(noted_.size());
    std::vector<mailbox::email_key> emails;
    for (const auto& one : noted_)
        emails.insert(emails.end(), one->emails.begin(), one->emails.end());
    const auto emails_written = emails.size();
    co_await store_.mark(std::move(emails));
    noted_.erase(noted_.begin(), noted_.begin() + count);
    noted_emails_ -= emails_written;
}

awaitable<void> unconfirmed_mail::stop()
{
    co_await task_.stop();
    try {
        co_await write_down();
        if (has_signed_on_)
            co_await store_.sign_off(replica_);
    } catch (const std::exception& error) {
        log::warning("unconfirmed mail not written down", {{"error", error.what()}});
    }
}

} // namespace tempinbox::mail_ingest
