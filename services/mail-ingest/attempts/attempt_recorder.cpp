#include "mail-ingest/attempts/attempt_recorder.hpp"

#include "common/log/log.hpp"

#include <limits>
#include <utility>

namespace tempinbox::mail_ingest {
namespace {

using namespace std::chrono_literals;

constexpr auto write_interval = 500ms;
// Keeps a statement short, since commits of mail use the same connections.
constexpr std::size_t max_batch = 500;
// A trim reads all attempts of an inbox: a tenth of what it keeps for each makes that cheap.
constexpr std::size_t trimmed_after = mailbox::attempt_repository::max_attempts / 10;
constexpr std::size_t max_untrimmed = 10'000;

} // namespace

attempt_recorder::attempt_recorder(runtime::host& host, postgres::pool& db, attempt_bounds bounds)
    : host_(host),
      store_(db),
      bounds_(bounds),
      dropped_(host.metrics().counter(
          "tempinbox_mail_ingest_attempts_dropped_total",
          "Attempts that reports of senders lack, since there was no room for more")),
      task_(host.executor(), host.metrics(), "write_attempts", [this] { return tick(); })
{}

std::optional<mailbox::attempt_key> attempt_recorder::note(account_id account, inbox_id inbox,
                                                           mailbox::v1::Attempt what)
{
    mailbox::new_attempt one;
    one.at = host_.clock().now();
    one.key = {account, inbox, uuid::make_v7(one.at)};
    const auto key = one.key;
    const auto bytes = what.ByteSizeLong();
    if (!has_room(account, inbox, bytes)) {
        dropped_.Increment();
        return std::nullopt;
    }
    one.what = std::move(what);
    pending_bytes_ += bytes;
    ++pending_of_[inbox];
    auto& of_account = share_of_[account];
    ++of_account.rows;
    of_account.bytes += bytes;
    pending_.emplace(key.id, std::move(one));
    return key;
}

bool attempt_recorder::has_room(account_id account, inbox_id inbox, std::size_t bytes) const
{
    const auto share_of = share_of_.find(account);
    const auto own = share_of == share_of_.end() ? share() : share_of->second;
    const auto free_rows = bounds_.rows - pending_.size();
    const auto free_bytes = bounds_.bytes - pending_bytes_;
    if (own.rows >= free_rows || own.bytes + bytes > free_bytes)
        return false;
    const auto found = pending_of_.find(inbox);
    return found == pending_of_.end() || found->second < bounds_.rows_per_inbox;
}

void attempt_recorder::note_end(const mailbox::attempt_key& last, mailbox::session_end how)
{
    const auto found = pending_.find(last.id);
    if (found != pending_.end())
        found->second.end = how;
    else if (ends_.size() < bounds_.rows)
        ends_.push_back({last, how});
}

awaitable<std::chrono::microseconds> attempt_recorder::tick()
{
    co_await write(max_batch);
    co_return pending_.size() < max_batch ? write_interval : 1ms;
}

awaitable<void> attempt_recorder::write(std::size_t max)
{
    if (in_write_.empty())
        take(max);
    if (!in_write_.empty())
        co_await store_.record(in_write_);
    for (const auto& each : in_write_)
        ++untrimmed_[{each.key.account, each.key.inbox}];
    in_write_.clear();
    if (ends_in_write_.empty())
        ends_in_write_ = std::exchange(ends_, {});
    if (!ends_in_write_.empty())
        co_await store_.note_ends(ends_in_write_);
    ends_in_write_.clear();
    if (auto full = take_full(); !full.empty())
        co_await store_.trim(std::move(full));
}

std::vector<std::pair<account_id, inbox_id>> attempt_recorder::take_full()
{
    const auto least = untrimmed_.size() < max_untrimmed ? trimmed_after : 1;
    std::vector<std::pair<account_id, inbox_id>> full;
    for (const auto& [inbox, written] : untrimmed_)
        if (written >= least)
            full.push_back(inbox);
    for (const auto& inbox : full)
        untrimmed_.erase(inbox);
    return full;
}

void attempt_recorder::take(std::size_t max)
{
    while (!pending_.empty() && in_write_.size() < max) {
        auto& first = pending_.begin()->second;
        const auto bytes = first.what.ByteSizeLong();
        pending_bytes_ -= bytes;
        const auto of_account = share_of_.find(first.key.account);
        of_account->second.bytes -= bytes;
        if (--of_account->second.rows == 0)
            share_of_.erase(of_account);
        const auto of_inbox = pending_of_.find(first.key.inbox);
        if (--of_inbox->second == 0)
            pending_of_.erase(of_inbox);
        in_write_.push_back(std::move(first));
        pending_.erase(pending_.begin());
    }
}

awaitable<void> attempt_recorder::stop()
{
    co_await task_.stop();
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    try {
        co_await write(all); // first what a write before it has left
        co_await write(all);
    } catch (const std::exception& error) {
        // At the end of the process nobody is left to try again.
        log::warning("attempts not recorded",
                     {{"error", error.what()}, {"rows", in_write_.size()}});
    }
}

} // namespace tempinbox::mail_ingest
