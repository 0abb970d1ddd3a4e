#include "common/async/fair_pool.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

using pool = async::fair_pool<char>;

struct ended_jobs
{
    std::vector<std::string> run;    // in the order in which they ended
    std::vector<std::string> absent; // not run in time
};

awaitable<void> run_into(pool& threads, std::string name, std::function<void()> job,
                         ended_jobs& ended, async::deadline until)
{
    const bool has_run = co_await threads.run(name.front(), std::move(job), until);
    (has_run ? ended.run : ended.absent).push_back(std::move(name));
}

// Its key is the first letter of its name.
void begin(
    pool& threads, const std::string& name, ended_jobs& ended, std::function<void()> job = [] {},
    async::deadline until = async::deadline::never())
{
    boost::asio::co_spawn(testing::test_host().loop(),
                          run_into(threads, name, std::move(job), ended, until),
                          boost::asio::detached);
}

} // namespace

TEST_CASE("a hundred jobs of one key delay another's by one", "[async]")
{
    ended_jobs ended;
    std::latch released(1);
    pool threads(testing::test_host().executor(), 1, 1);
    begin(threads, "a", ended, [&] { released.wait(); });
    for (int i = 0; i < 100; ++i)
        begin(threads, "a" + std::to_string(i), ended);
    begin(threads, "b", ended);

    released.count_down();
    REQUIRE(testing::eventually([&] { return ended.run.size() == 102; }));

    CHECK(std::vector(ended.run.begin(), ended.run.begin() + 4) ==
          std::vector<std::string>{"a", "a0", "b", "a1"});
}

TEST_CASE("a key has its share of the threads, and others the rest", "[async]")
{
    ended_jobs ended;
    std::latch released(1);
    pool threads(testing::test_host().executor(), 2, 1);
    begin(threads, "a1", ended, [&] { released.wait(); });
    begin(threads, "a2", ended);
    for (const auto* name : {"b1", "b2", "c1"})
        begin(threads, name, ended);
    const bool have_others_ended = testing::eventually([&] { return ended.run.size() == 3; });

    released.count_down();
    REQUIRE(testing::eventually([&] { return ended.run.size() == 5; }));

    CHECK(have_others_ended);
    CHECK(ended.run == std::vector<std::string>{"b1", "b2", "c1", "a1", "a2"});
}

TEST_CASE("jobs are bounded, in all and of one key, as long as somebody waits for them", "[async]")
{
    ended_jobs ended;
    std::latch released(1);
    pool threads(testing::test_host().executor(), 1, 1, {3, 2});
    begin(threads, "a1", ended, [&] { released.wait(); });
    begin(threads, "a2", ended, [] {}, async::deadline::after(1ms));
    begin(threads, "a3", ended);
    const bool was_left = testing::eventually([&] { return ended.absent.size() == 2; });
    const bool has_room_again = threads.has_room('a');
    for (const auto* name : {"b1", "b2", "b3", "c1"})
        begin(threads, name, ended);
    REQUIRE(testing::eventually([&] { return ended.absent.size() == 4; }));
    const bool is_full = !threads.has_room('c');

    released.count_down();
    REQUIRE(testing::eventually([&] { return ended.run.size() == 3; }));

    CHECK(was_left);
    CHECK(has_room_again);
    CHECK(is_full);
    CHECK(std::vector(ended.absent.begin() + 2, ended.absent.end()) ==
          std::vector<std::string>{"b3", "c1"});
    CHECK(threads.has_room('c'));
}

TEST_CASE("a job that nobody waits for any more is never run", "[async]")
{
    ended_jobs ended;
    std::latch released(1);
    bool has_run = false;
    const auto held = std::make_shared<int>();
    pool threads(testing::test_host().executor(), 1, 1);
    begin(threads, "a1", ended, [&] { released.wait(); });
    begin(threads, "a2", ended, [&has_run, held] { has_run = true; }, async::deadline::after(1ms));
    begin(threads, "a3", ended);
    const bool was_left = testing::eventually([&] { return ended.absent.size() == 1; });
    const auto holders = held.use_count();

    released.count_down();
    REQUIRE(testing::eventually([&] { return ended.run.size() == 2; }));

    CHECK(was_left);
    CHECK(holders == 1); // what it held is free before its turn
    CHECK_FALSE(has_run);
}

TEST_CASE("a job that has begun ends though nobody waits for it", "[async]")
{
    ended_jobs ended;
    std::latch released(1);
    const auto held = std::make_shared<int>();
    pool threads(testing::test_host().executor(), 1, 1);
    begin(threads, "a", ended, [&released, held] { released.wait(); }, async::deadline::after(1ms));
    const bool was_left = testing::eventually([&] { return ended.absent.size() == 1; });

    released.count_down();

    CHECK(was_left);
    CHECK(testing::eventually([&] { return held.use_count() == 1; }));
}

TEST_CASE("no job is left once a pool has stopped", "[async]")
{
    ended_jobs ended;
    std::latch begun(1), released(1);
    const auto held = std::make_shared<int>();
    pool threads(testing::test_host().executor(), 1, 1);
    begin(threads, "a", ended, [&begun, &released, held] {
        begun.count_down();
        released.wait();
    });
    REQUIRE(testing::eventually([&] { return begun.try_wait(); }));

    released.count_down();
    threads.stop();

    CHECK(held.use_count() == 1); // the loop has not run since
    CHECK(testing::eventually([&] { return ended.run.size() == 1; }));
}

TEST_CASE("what a job throws comes to whoever waits, and the next one runs", "[async]")
{
    ended_jobs ended;
    pool threads(testing::test_host().executor(), 1, 1);

    CHECK_THROWS_WITH(testing::await(threads.run(
                          'a', [] { throw std::runtime_error("no"); }, async::deadline::never())),
                      "no");
    CHECK(testing::await(threads.run('a', [] {}, async::deadline::never())));
}

TEST_CASE("a pool that has stopped takes no jobs, and drops those that have not begun", "[async]")
{
    ended_jobs ended;
    std::latch begun(1), released(1);
    pool threads(testing::test_host().executor(), 1, 1);
    begin(threads, "a1", ended, [&] {
        begun.count_down();
        released.wait();
    });
    begin(threads, "a2", ended);
    REQUIRE(testing::eventually([&] { return begun.try_wait(); }));

    released.count_down();
    threads.stop();
    begin(threads, "b", ended);
    REQUIRE(testing::eventually([&] { return ended.run.size() + ended.absent.size() == 3; }));

    CHECK(ended.run == std::vector<std::string>{"a1"});
}
