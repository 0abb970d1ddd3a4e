#include "common/async/periodic_task.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

awaitable<std::chrono::microseconds> count(int& runs, std::chrono::microseconds delay)
{
    ++runs;
    co_return delay;
}

awaitable<std::chrono::microseconds> fail_once(int& runs)
{
    if (++runs == 1)
        throw std::runtime_error("not yet");
    co_return 1h;
}

awaitable<std::chrono::microseconds> fail(int& runs)
{
    ++runs;
    throw std::runtime_error("never");
    co_return 1h;
}

awaitable<std::chrono::microseconds> take_a_while(bool& is_running)
{
    is_running = true;
    boost::asio::steady_timer work(testing::test_host().executor(), 30ms);
    co_await work.async_wait(boost::asio::use_awaitable);
    is_running = false;
    co_return 1h;
}

} // namespace

TEST_CASE("a step is run again after the pause it returned", "[async]")
{
    int runs = 0;
    async::periodic_task task(testing::test_host().executor(), testing::test_host().metrics(),
                              "test", [&] { return count(runs, 1ms); });

    task.start();
    CHECK(testing::eventually([&] { return runs >= 5; }));
    testing::await(task.stop());
}

TEST_CASE("a woken task does not wait for the end of its pause", "[async]")
{
    int runs = 0;
    async::periodic_task task(testing::test_host().executor(), testing::test_host().metrics(),
                              "test", [&] { return count(runs, 1h); });

    task.start();
    REQUIRE(testing::eventually([&] { return runs == 1; }));
    task.wake();
    CHECK(testing::eventually([&] { return runs == 2; }));
    testing::await(task.stop());
}

TEST_CASE("a step that throws is run again", "[async]")
{
    int runs = 0;
    async::periodic_task task(testing::test_host().executor(), testing::test_host().metrics(),
                              "test", [&] { return fail_once(runs); });

    task.start();
    CHECK(testing::eventually([&] { return runs == 2; }));
    testing::await(task.stop());
}

TEST_CASE("how soon a step that throws is run again can be chosen", "[async]")
{
    int runs = 0;
    async::periodic_task task(
        testing::test_host().executor(), testing::test_host().metrics(), "test",
        [&] { return fail(runs); }, 1ms);

    task.start();
    CHECK(testing::eventually([&] { return runs >= 100; }));
    testing::await(task.stop());
}

TEST_CASE("metrics say how often a task failed and when it last succeeded", "[async]")
{
    auto& metrics = testing::test_host().metrics();
    int runs = 0;
    async::periodic_task task(
        testing::test_host().executor(), metrics, "fail_once", [&] { return fail_once(runs); },
        1ms);
    CHECK_THAT(metrics.text(), Catch::Contains("tempinbox_task_last_success_timestamp_seconds"
                                               "{task=\"fail_once\"} 0\n"));

    task.start();
    REQUIRE(testing::eventually([&] { return runs == 2; }));
    testing::await(task.stop());

    CHECK_THAT(metrics.text(),
               Catch::Contains("tempinbox_task_failures_total{task=\"fail_once\"} 1\n"));
    CHECK_THAT(metrics.text(), !Catch::Contains("tempinbox_task_last_success_timestamp_seconds"
                                                "{task=\"fail_once\"} 0\n"));
}

TEST_CASE("stopping waits for the step under way, and is quick in a pause", "[async]")
{
    bool is_running = false;
    async::periodic_task task(testing::test_host().executor(), testing::test_host().metrics(),
                              "test", [&] { return take_a_while(is_running); });

    task.start();
    REQUIRE(testing::eventually([&] { return is_running; }));
    testing::await(task.stop());

    CHECK_FALSE(is_running);
}
