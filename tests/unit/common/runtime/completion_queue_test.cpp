#include "common/runtime/completion_queue.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/io_context.hpp>

#include <stdexcept>
#include <thread>

using tempinbox::runtime::completion_queue;

TEST_CASE("steps of other threads run on the loop in order", "[runtime]")
{
    boost::asio::io_context loop;
    completion_queue queue(loop);
    std::vector<int> seen;

    std::thread([&] {
        for (int i = 0; i < 100; ++i)
            queue.push([&seen, i] { seen.push_back(i); });
    }).join();
    CHECK(seen.empty());
    const auto wake_ups = loop.run();

    REQUIRE(seen.size() == 100);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(wake_ups == 1);
}

TEST_CASE("a step that throws does not lose those behind it", "[runtime]")
{
    boost::asio::io_context loop;
    completion_queue queue(loop);
    int seen = 0;
    queue.push([] { throw std::runtime_error("broken"); });
    queue.push([&seen] { ++seen; });

    CHECK_THROWS_AS(loop.run(), std::runtime_error);
    CHECK(seen == 0);
    loop.run();

    CHECK(seen == 1);
}

TEST_CASE("a step pushed by a step runs too", "[runtime]")
{
    boost::asio::io_context loop;
    completion_queue queue(loop);
    int seen = 0;
    queue.push([&] { queue.push([&seen] { ++seen; }); });

    loop.run();

    CHECK(seen == 1);
}
