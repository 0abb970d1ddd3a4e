#include "common/async/single_flight.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <stdexcept>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

// Looks numbers up when the test lets it.
class looking_up
{
public:
    explicit looking_up(const async::flight_policy& policy)
        : flights_(testing::test_host().executor(), policy,
                   [this](int number) { return look_up(number); })
    {}

    void ask(int number)
    {
        boost::asio::co_spawn(testing::test_host().loop(), note(number), boost::asio::detached);
        testing::eventually([] { return false; }, 1ms);
    }
    awaitable<void> stop() { return flights_.stop(); }
    bool settles(std::size_t count)
    {
        return testing::eventually([&] { return values.size() + errors == count; });
    }

    std::vector<int> asked;
    std::multimap<int, std::optional<int>> values;
    std::size_t errors = 0;
    bool is_held = true;
    bool is_broken = false;

private:
    awaitable<void> note(int number)
    {
        std::optional<int> value;
        try {
            value = co_await flights_.ask(number);
        } catch (const std::runtime_error&) {
            ++errors;
            co_return;
        }
        values.emplace(number, value);
    }
    awaitable<int> look_up(int number)
    {
        asked.push_back(number);
        while (is_held)
            co_await boost::asio::post(testing::test_host().executor(), boost::asio::use_awaitable);
        if (is_broken)
            throw std::runtime_error("broken");
        co_return 2 * number;
    }

    async::single_flight<int, int> flights_;
};

} // namespace

TEST_CASE("stopping waits for a look-up that nobody waits for any more", "[async]")
{
    looking_up all({.timeout = 1ms});
    all.ask(1);
    REQUIRE(all.settles(1));
    bool has_stopped = false;
    boost::asio::co_spawn(testing::test_host().loop(), all.stop(),
                          [&](const std::exception_ptr&) { has_stopped = true; });
    CHECK_FALSE(testing::eventually([&] { return has_stopped; }, 20ms));

    all.is_held = false;
    CHECK(testing::eventually([&] { return has_stopped; }));
}

TEST_CASE("equal look-ups at the same time share one", "[async]")
{
    looking_up all({});
    for (const int number : {1, 2, 1})
        all.ask(number);
    all.is_held = false;
    REQUIRE(all.settles(3));
    CHECK(all.asked == std::vector<int>{1, 2});
    CHECK(all.values.count(1) == 2);
    CHECK(all.values.find(1)->second == 2);

    all.ask(1);
    REQUIRE(all.settles(4));
    CHECK(all.asked == std::vector<int>{1, 2, 1});
}

TEST_CASE("what a look-up throws goes to all who asked", "[async]")
{
    looking_up all({});
    all.ask(1);
    all.ask(1);
    all.is_broken = true;
    all.is_held = false;
    REQUIRE(all.settles(2));
    CHECK(all.errors == 2);
    CHECK(all.asked.size() == 1);
}

TEST_CASE("a look-up past the timeout has no value, and goes on for the others", "[async]")
{
    looking_up all({.timeout = 5ms});
    all.ask(1);
    REQUIRE(all.settles(1));
    CHECK_FALSE(all.values.find(1)->second);

    all.ask(1);
    all.is_held = false;
    REQUIRE(all.settles(2));
    CHECK(all.asked.size() == 1);
}

TEST_CASE("a look-up that began too long ago is not joined", "[async]")
{
    looking_up all({.joinable_for = 1ms});
    all.ask(1);
    testing::eventually([] { return false; }, 5ms);
    all.ask(1);
    all.is_held = false;
    REQUIRE(all.settles(2));
    CHECK(all.asked == std::vector<int>{1, 1});
}
