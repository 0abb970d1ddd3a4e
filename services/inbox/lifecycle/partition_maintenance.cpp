#include "inbox/lifecycle/partition_maintenance.hpp"

#include "common/log/log.hpp"
#include "common/postgres/partition_metrics.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::inbox {
namespace {

using namespace std::chrono_literals;
using mailbox::drop_status;

constexpr int days_ahead = 3;
// A day, which is most inboxes' TTL, and some spare.
constexpr int hours_ahead = 26;

constexpr std::chrono::microseconds interval = 1min;
// A NOWAIT lock succeeds sooner or later between the statements of others, but not while a backup
// reads.
constexpr int max_tries = 20;
constexpr std::chrono::milliseconds retry_interval = 100ms;
constexpr std::chrono::microseconds in_use_delay = 5min;
// Between batches of deleted bodies, so that requests go first.
constexpr std::chrono::milliseconds batch_delay = 10ms;

awaitable<void> delay(runtime::host& host, std::chrono::milliseconds time)
{
    boost::asio::steady_timer timer(host.executor(), time);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

} // namespace

partition_maintenance::partition_maintenance(runtime::host& host,
                                             mailbox::partition_repository& repository)
    : host_(host),
      repository_(repository),
      dropped_(host.metrics().counter("tempinbox_inbox_partitions_dropped_total",
                                      "Past partitions of emails and bodies dropped")),
      task_(host.executor(), host.metrics(), "maintain_partitions", [this] { return tick(); })
{}

void partition_maintenance::start()
{
    task_.start();
}

awaitable<void> partition_maintenance::stop()
{
    is_stopping_ = true;
    co_await task_.stop();
}

void partition_maintenance::note_end(time_point ends_at)
{
    const time_point hour = std::chrono::floor<std::chrono::hours>(ends_at);
    if (hour < host_.clock().now() + std::chrono::hours(hours_ahead - 1) ||
        ends_at == mailbox::endless)
        return;
    if (noted_hours_.insert(hour).second)
        task_.wake();
}

// Sequential: concurrent changes would find the tables in use by each other.
awaitable<std::chrono::microseconds> partition_maintenance::tick()
{
    const bool is_made = co_await make_ahead();
    postgres::show_partitions(host_.metrics(), co_await repository_.partitions(),
                              host_.clock().now());
    noted_hours_.erase(noted_hours_.begin(), noted_hours_.lower_bound(host_.clock().now()));
    if (!is_made)
        log::warning("partitions not created while their tables are in use, trying again");
    if (host_.clock().now() >= next_drop_at_)
        co_await drop();
    co_return is_made ? interval : in_use_delay;
}

// False if the tables are in use.
awaitable<bool> partition_maintenance::make_ahead()
{
    if (!co_await retry([this] { return repository_.ensure_email_days(days_ahead); }))
        co_return false;
    const auto missing = co_await repository_.missing_body_hours(hours_ahead);
    for (const auto hour : missing) {
        if (!co_await retry([this, hour] { return repository_.ensure_body_hour(hour); }))
            co_return false;
    }
    co_return true;
}

awaitable<void> partition_maintenance::drop()
{
    const bool are_dropped = co_await drop_all();
    if (!are_dropped)
        log::warning("past partitions not dropped while their tables are in use, trying again");
    next_drop_at_ = host_.clock().now() + (are_dropped ? interval : in_use_delay);
}

// False if the tables are in use. Whoever uses one commonly uses all, so the others are skipped,
// except overdue ones, which are emptied instead.
awaitable<bool> partition_maintenance::drop_all()
{
    bool is_in_use = false;
    const auto past = co_await repository_.past_partitions();
    for (const auto& one : past) {
        if (is_stopping_)
            break;
        if (is_in_use && !one.is_overdue)
            continue;
        if (one.hour) {
            for (bool may_have_more = true; may_have_more && !is_stopping_;)
                may_have_more = co_await repository_.move_needed(*one.hour);
        }
        auto status = drop_status::needed;
        if (!is_in_use)
            is_in_use = !co_await retry([this, &one, &status] { return drop_one(one, status); });
        if (status == drop_status::taken)
            break;
        if (status == drop_status::dropped) {
            dropped_.Increment();
            log::info("partition dropped", {{"partition", one.name}});
        } else if (is_in_use && one.is_overdue) {
            co_await empty(one);
        }
    }
    co_return !is_in_use;
}

awaitable<void> partition_maintenance::drop_one(const mailbox::past_partition& past,
                                                drop_status& status)
{
    status = co_await repository_.drop(past);
}

awaitable<void> partition_maintenance::empty(mailbox::past_partition overdue)
{
    std::optional<body_id> last;
    do {
        last = co_await repository_.empty_some(overdue, last);
        co_await delay(host_, batch_delay);
    } while (last && !is_stopping_);
}

// False if the tables stay in use for all tries.
awaitable<bool> partition_maintenance::retry(std::function<awaitable<void>()> change)
{
    for (int tries = 0; tries < max_tries && !is_stopping_; ++tries) {
        if (tries > 0)
            co_await delay(host_, retry_interval);
        bool is_in_use = false;
        try {
            co_await change();
        } catch (const postgres::timed_out&) {
            // The tables are in use: tried again after a pause.
            is_in_use = true;
        }
        if (!is_in_use)
            co_return true;
    }
    co_return false;
}

} // namespace tempinbox::inbox
