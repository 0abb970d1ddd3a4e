#include "mail-ingest/rejections/rejection_recorder.hpp"

#include "common/log/log.hpp"

#include <limits>
#include <utility>

namespace tempinbox::mail_ingest {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto write_interval = 1s;
// Keeps a statement short, since commits of mail use the same connections. Six times what a minute
// allows.
constexpr std::size_t max_batch = 1'000;

} // namespace

rejection_recorder::rejection_recorder(runtime::host& host, mailbox::ingest_repository& store)
    : host_(host),
      store_(store),
      dropped_(host.metrics().counter(
          "tempinbox_mail_ingest_rejections_dropped_total",
          "Refused mail that its inbox does not show, since there was no room for more")),
      task_(host.executor(), host.metrics(), "write_rejections", [this] { return tick(); })
{}

void rejection_recorder::note(account_id account, inbox_id inbox, mailbox::rejection_reason reason,
                              std::string_view mail_from, std::string_view reply)
{
    mailbox::new_rejection one;
    one.account = account;
    one.inbox = inbox;
    one.reason = to_text(reason);
    one.mail_from = mail_from;
    one.reply = reply;
    one.first_at = one.last_at = host_.clock().now();
    if (!sums_.add(std::move(one), steady::now()))
        dropped_.Increment();
}

awaitable<std::chrono::microseconds> rejection_recorder::tick()
{
    co_await write(max_batch);
    co_return write_interval;
}

awaitable<void> rejection_recorder::write(std::size_t max)
{
    dropped_.Increment(static_cast<double>(sums_.requeue(std::exchange(in_write_, {}))));
    in_write_ = sums_.take(max);
    if (in_write_.empty())
        co_return;
    const auto dropped = co_await store_.note_rejections(in_write_);
    in_write_.clear();
    dropped_.Increment(static_cast<double>(dropped));
}

awaitable<void> rejection_recorder::stop()
{
    co_await task_.stop();
    try {
        co_await write(std::numeric_limits<std::size_t>::max());
    } catch (const std::exception& error) {
        // At the end of the process nobody is left to try again.
        log::warning("refused mail not recorded",
                     {{"error", error.what()}, {"rows", in_write_.size()}});
    }
}

} // namespace tempinbox::mail_ingest
