#include "webhook-dispatcher/delivery/retention.hpp"

#include "common/log/log.hpp"
#include "common/postgres/partition_metrics.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::webhooks {
namespace {

using steady = std::chrono::steady_clock;

// Events come no later than their topics keep them.
constexpr int days_back = 8;
constexpr int days_ahead = 3;
constexpr std::chrono::hours interval{1};
constexpr std::chrono::seconds retry_delay{10};
constexpr std::chrono::milliseconds step_interval{10};
// A lock that is taken at once or not at all is granted sooner or later between other statements,
// but not while a backup reads.
constexpr int max_tries = 20;
constexpr std::chrono::milliseconds try_interval{100};
constexpr std::chrono::minutes in_use_delay{5};

} // namespace

retention::retention(runtime::host& host, retention_repository& partitions,
                     replay_repository& replays, manual_delivery_repository& manual_deliveries,
                     int retention_days)
    : host_(host),
      task_(host.metrics(), "purge_deliveries"),
      partitions_(partitions),
      replays_(replays),
      manual_deliveries_(manual_deliveries),
      retention_days_(retention_days),
      is_due_(host.executor(), async::reset_event::mode::automatic),
      has_stopped_(host.executor())
{}

void retention::start()
{
    is_running_ = true;
    boost::asio::co_spawn(host_.executor(), run(), boost::asio::detached);
}

awaitable<void> retention::stop()
{
    is_stopping_ = true;
    is_due_.set();
    while (is_running_)
        co_await has_stopped_.wait();
}

awaitable<void> retention::run()
{
    while (!is_stopping_) {
        std::string error_text;
        std::chrono::seconds delay = interval;
        try {
            if (!co_await maintain())
                delay = in_use_delay;
        } catch (const std::exception& error) {
            // The loop goes on, with a delay.
            error_text = error.what();
            delay = retry_delay;
        }
        if (error_text.empty())
            task_.succeeded();
        else
            task_.failed();
        if (!error_text.empty())
            log::warning("expired rows not purged, trying again", {{"reason", error_text}});
        else if (delay == in_use_delay)
            log::warning("partitions not maintained while their tables are in use, trying again");
        if (!is_stopping_)
            co_await is_due_.wait_until(steady::now() + delay);
    }
    is_running_ = false;
    has_stopped_.set();
}

// False: a partition is in use.
awaitable<bool> retention::maintain()
{
    co_await partitions_.purge_ended_secrets();
    bool is_maintained = co_await make_partitions();
    postgres::show_partitions(host_.metrics(), co_await partitions_.partitions(),
                              host_.clock().now());
    for (bool may_have_more = is_maintained; may_have_more && !is_stopping_;) {
        const auto dropped = co_await drop_partition(
            [this] { return partitions_.drop_partition_older_than(retention_days_); });
        is_maintained = dropped.has_value();
        may_have_more = dropped.value_or(false);
    }
    while (!is_stopping_ && co_await partitions_.end_unread_feeds())
        co_await is_due_.wait_until(steady::now() + step_interval);
    while (!is_stopping_ && co_await partitions_.raise_feed_floors())
        co_await is_due_.wait_until(steady::now() + step_interval);
    for (bool may_have_more = is_maintained; may_have_more && !is_stopping_;) {
        const auto dropped =
            co_await drop_partition([this] { return partitions_.drop_feed_partition(); });
        is_maintained = dropped.has_value();
        may_have_more = dropped.value_or(false);
    }
    co_await replays_.purge_older_than(retention_days_);
    co_await manual_deliveries_.purge_limits();
    while (!is_stopping_) {
        if (!co_await partitions_.purge_deleted_accounts())
            break;
        co_await is_due_.wait_until(steady::now() + step_interval);
    }
    co_return is_maintained;
}

// False: the tables are in use.
awaitable<bool> retention::make_partitions()
{
    for (int tries = 0; tries < max_tries && !is_stopping_; ++tries) {
        bool is_made = false;
        try {
            co_await partitions_.make_partitions(days_back, days_ahead);
            is_made = true;
        } catch (const postgres::timed_out&) {
            // The tables are in use: tried again after a pause.
            is_made = false;
        }
        if (is_made)
            co_return true;
        co_await is_due_.wait_until(steady::now() + try_interval);
    }
    co_return false;
}

// Whether there may be more; nullopt: the tables are in use.
awaitable<std::optional<bool>> retention::drop_partition(std::function<awaitable<bool>()> drop_one)
{
    for (int tries = 0; tries < max_tries && !is_stopping_; ++tries) {
        std::optional<bool> dropped;
        try {
            dropped = co_await drop_one();
        } catch (const postgres::timed_out&) {
            // The tables are in use: tried again after a pause.
            dropped.reset();
        }
        if (dropped)
            co_return dropped;
        co_await is_due_.wait_until(steady::now() + try_interval);
    }
    co_return std::nullopt;
}

} // namespace tempinbox::webhooks
