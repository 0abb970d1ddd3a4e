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
// A lock that is had at once or not at all is had sooner or later between the statements of others,
// but not while a backup reads.
constexpr int max_tries = 20;
constexpr std::chrono::milliseconds between_tries{100};
constexpr std::chrono::minutes pause_while_in_use{5};

} // namespace

retention::retention(runtime::host& host, retention_store& partitions, replay_store& replays,
                     resend_store& resent, int days_kept)
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
            if (!co_await keep_up())
                pause = pause_while_in_use;
        } catch (const std::exception& error) {
            problem = error.what();
            pause = pause_after_failure;
        }
        if (!problem.empty())
            log::warning("what is past its time stays, trying again", {{"reason", problem}});
        else if (pause == pause_while_in_use)
            log::warning("partitions not kept up while their tables are in use, trying again");
        if (!is_stopping_)
            co_await is_due_.wait(steady::now() + pause);
    }
    is_running_ = false;
    has_stopped_.notify();
}

// False: a partition is in use.
awaitable<bool> retention::keep_up()
{
    co_await partitions_.forget_ended_secrets();
    bool are_kept_up = co_await make_partitions();
    for (bool may_have_more = are_kept_up; may_have_more && !is_stopping_;) {
        const auto dropped = co_await drop_partition();
        are_kept_up = dropped.has_value();
        may_have_more = dropped.value_or(false);
    }
    co_await replays_.forget_older_than(days_kept_);
    co_await resent_.forget_limits();
    while (!is_stopping_) {
        if (!co_await partitions_.forget_deleted_accounts())
            break;
        co_await is_due_.wait(steady::now() + pause_between_steps);
    }
    co_return are_kept_up;
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
            is_made = false;
        }
        if (is_made)
            co_return true;
        co_await is_due_.wait(steady::now() + between_tries);
    }
    co_return false;
}

// Whether there may be more; absent: its tables are in use.
awaitable<std::optional<bool>> retention::drop_partition()
{
    for (int tries = 0; tries < max_tries && !is_stopping_; ++tries) {
        std::optional<bool> dropped;
        try {
            dropped = co_await partitions_.drop_partition_older_than(days_kept_);
        } catch (const postgres::timed_out&) {
            dropped.reset();
        }
        if (dropped)
            co_return dropped;
        co_await is_due_.wait(steady::now() + between_tries);
    }
    co_return std::nullopt;
}

} // namespace tempinbox::webhooks
