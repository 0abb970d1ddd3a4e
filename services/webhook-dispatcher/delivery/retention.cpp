#include "webhook-dispatcher/delivery/retention.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::webhooks {
namespace {

using steady = std::chrono::steady_clock;

// Events come at most as late as their topics keep them.
constexpr int days_back = 8;
constexpr int days_ahead = 3;
constexpr std::chrono::hours interval{1};
constexpr std::chrono::seconds pause_after_failure{10};
constexpr std::chrono::milliseconds pause_between_steps{10};
// Something long reads a partition, such as a backup.
constexpr std::chrono::minutes pause_while_in_use{5};

} // namespace

retention::retention(runtime::host& host, retention_store& partitions, replay_store& replays, resend_store& resent, int days_kept)
    : host_(host),
      partitions_(partitions),
      replays_(replays),
      resent_(resent),
      days_kept_(days_kept),
      is_due_(host.executor()),
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
    is_due_.notify();
    while (is_running_)
        co_await has_stopped_.wait();
}

awaitable<void> retention::run()
{
    while (!is_stopping_) {
        std::string problem;
        std::chrono::seconds pause = interval;
        try {
            co_await keep_up();
        } catch (const postgres::timed_out& error) {
            problem = error.what();
            pause = pause_while_in_use;
        } catch (const std::exception& error) {
            problem = error.what();
            pause = pause_after_failure;
        }
        if (!problem.empty())
            log::warning("partitions not kept up, trying again", {{"reason", problem}});
        if (!is_stopping_)
            co_await is_due_.wait(steady::now() + pause);
    }
    is_running_ = false;
    has_stopped_.notify();
}

awaitable<void> retention::keep_up()
{
    co_await partitions_.forget_ended_secrets();
    co_await partitions_.make_partitions(days_back, days_ahead);
    for (bool may_have_more = true; may_have_more && !is_stopping_;)
        may_have_more = co_await partitions_.drop_partition_older_than(days_kept_);
    co_await replays_.forget_older_than(days_kept_);
    co_await resent_.forget_limits();
    while (!is_stopping_) {
        if (!co_await partitions_.forget_deleted_accounts())
            break;
        co_await is_due_.wait(steady::now() + pause_between_steps);
    }
}

} // namespace tempinbox::webhooks
