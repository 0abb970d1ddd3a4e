#include "common/async/batcher.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>

using namespace tempinbox;
using namespace std::chrono_literals;
using async::deadline;

namespace {

struct weight_of_number
{
    std::size_t operator()(int number) const { return static_cast<std::size_t>(number); }
};

// Doubles numbers but 13; its calls end when the test lets them.
class doubling
{
public:
    using numbers = std::vector<int>;

    explicit doubling(const async::batch_policy& policy)
        : calls(testing::test_host().executor(), policy, "numbers not doubled",
                [this](numbers given) { return send(std::move(given)); })
    {}

    void ask(int number, deadline until = deadline::after(20s))
    {
        boost::asio::co_spawn(testing::test_host().loop(), note(number, until),
                              boost::asio::detached);
    }
    bool has_sent(std::size_t count)
    {
        return testing::eventually([&] { return sent.size() == count; });
    }
    bool settles(std::size_t count)
    {
        return testing::eventually([&] { return results.size() == count; });
    }
    // The loop runs for a moment.
    void idle()
    {
        testing::eventually([] { return false; }, 5ms);
    }

    std::vector<numbers> sent;
    std::multimap<int, std::optional<int>> results;
    bool is_held = false;
    bool is_broken = false;
    async::batcher<int, int, weight_of_number> calls;

private:
    awaitable<void> note(int number, deadline until)
    {
        auto result = co_await calls.ask(number, until);
        results.emplace(number, result);
    }
    awaitable<std::vector<int>> send(numbers given)
    {
        sent.push_back(given);
        while (is_held)
            co_await boost::asio::post(testing::test_host().executor(), boost::asio::use_awaitable);
        if (is_broken)
            throw std::runtime_error("broken");
        numbers doubled;
        for (const int number : given) {
            if (number == 13)
                break;
            doubled.push_back(2 * number);
        }
        co_return doubled;
    }
};

using batches = std::vector<doubling::numbers>;

} // namespace

TEST_CASE("items that come together form one call, and each gets its own result", "[async]")
{
    doubling all({});
    for (const int number : {3, 1, 3})
        all.ask(number);
    REQUIRE(all.settles(3));

    CHECK(all.sent == batches{{3, 1, 3}});
    CHECK(all.results.find(1)->second == 2);
    CHECK(all.results.find(3)->second == 6);
    CHECK(all.calls.pending() == 0);
}

TEST_CASE("items gather while a call is in flight, and a call carries no more than it may",
          "[async]")
{
    doubling all({.max_items = 2});
    all.is_held = true;
    all.ask(1);
    REQUIRE(all.has_sent(1));
    for (const int number : {2, 3, 4})
        all.ask(number);
    all.idle();
    CHECK(all.sent.size() == 1);
    CHECK(all.calls.gathered() == 3);
    CHECK(all.calls.pending() == 4);

    all.is_held = false;
    REQUIRE(all.settles(4));
    CHECK(all.sent == batches{{1}, {2, 3}, {4}});
}

TEST_CASE("a call stops at its weight, but one item always fits", "[async]")
{
    doubling all({.max_weight = 10});
    for (const int number : {20, 4, 6, 1})
        all.ask(number);
    REQUIRE(all.settles(4));

    CHECK(all.sent == batches{{20}, {4, 6}, {1}});
}

TEST_CASE("several calls may be in flight", "[async]")
{
    doubling all({.max_in_flight = 2, .max_items = 1});
    all.is_held = true;
    for (const int number : {1, 2, 3})
        all.ask(number);
    REQUIRE(all.has_sent(2));
    all.idle();
    CHECK(all.sent.size() == 2);

    all.is_held = false;
    REQUIRE(all.settles(3));
}

TEST_CASE("a further call begins once it is full", "[async]")
{
    doubling all({.max_in_flight = 2, .slow_after = 1h, .max_items = 2});
    all.is_held = true;
    all.ask(1);
    REQUIRE(all.has_sent(1));
    all.ask(2);
    all.idle();
    CHECK(all.sent.size() == 1);
    all.ask(3);
    REQUIRE(all.has_sent(2));
    all.is_held = false;
    REQUIRE(all.settles(3));

    doubling burst({.max_in_flight = 2, .slow_after = 1h, .max_items = 2});
    burst.is_held = true;
    for (int number = 1; number <= 5; ++number)
        burst.ask(number);
    REQUIRE(burst.has_sent(2));
    burst.idle();
    CHECK(burst.sent.size() == 2);
    burst.is_held = false;
    REQUIRE(burst.settles(5));
}

TEST_CASE("a further call begins only while those in flight are slow", "[async]")
{
    doubling all({.max_in_flight = 2, .slow_after = 1h});
    all.is_held = true;
    all.ask(1);
    REQUIRE(all.has_sent(1));
    all.ask(2);
    all.idle();
    CHECK(all.sent.size() == 1);
    all.is_held = false;
    REQUIRE(all.settles(2));

    doubling slow({.max_in_flight = 2, .slow_after = 1ms});
    slow.is_held = true;
    slow.ask(1);
    REQUIRE(slow.has_sent(1));
    slow.ask(2);
    REQUIRE(slow.has_sent(2));
    slow.is_held = false;
    REQUIRE(slow.settles(2));
}

TEST_CASE("a call lingers until it is full or the batcher stops", "[async]")
{
    doubling all({.max_items = 2, .linger = 1h});
    all.ask(1);
    all.idle();
    CHECK(all.sent.empty());
    all.ask(2);
    REQUIRE(all.settles(2));
    CHECK(all.sent == batches{{1, 2}});

    all.ask(3);
    all.idle();
    CHECK(all.sent.size() == 1);
    CHECK(testing::await(all.calls.stop()));
    CHECK(all.settles(3));
    CHECK(all.sent == batches{{1, 2}, {3}});
}

TEST_CASE("a call that throws, and one that leaves an item out, give it no result", "[async]")
{
    doubling all({});
    all.ask(1);
    all.ask(13);
    REQUIRE(all.settles(2));
    CHECK(all.results.find(1)->second == 2);
    CHECK_FALSE(all.results.find(13)->second);
    CHECK_FALSE(all.calls.is_failing());

    all.is_broken = true;
    all.ask(2);
    all.ask(3);
    REQUIRE(all.settles(4));
    CHECK_FALSE(all.results.find(2)->second);
    CHECK_FALSE(all.results.find(3)->second);
    CHECK(all.calls.is_failing());

    all.is_broken = false;
    all.ask(4);
    REQUIRE(all.settles(5));
    CHECK(all.results.find(4)->second == 8);
    CHECK_FALSE(all.calls.is_failing());
}

TEST_CASE("an item whose waiter left is sent only if its call had begun", "[async]")
{
    doubling all({});
    all.is_held = true;
    all.ask(1, deadline::after(2s)); // sent by then
    REQUIRE(all.has_sent(1));
    all.ask(2, deadline::after(5ms));
    all.ask(3);
    REQUIRE(all.settles(2));
    CHECK_FALSE(all.results.find(1)->second);
    CHECK_FALSE(all.results.find(2)->second);

    all.is_held = false;
    REQUIRE(all.settles(3));
    CHECK(all.sent == batches{{1}, {3}});
}

TEST_CASE("a waiter without a deadline has the policy's timeout", "[async]")
{
    doubling all({.timeout = 5ms});
    all.is_held = true;
    CHECK_FALSE(testing::await(all.calls.ask(1)));
    all.is_held = false;
    CHECK(testing::await(all.calls.stop()));
}

TEST_CASE("a batcher that stops takes no more, and ends what it has", "[async]")
{
    doubling all({});
    all.is_held = true;
    all.ask(1);
    REQUIRE(all.has_sent(1));
    CHECK(all.calls.submit(2));
    CHECK_FALSE(testing::await(all.calls.stop(deadline::after(1ms))));
    CHECK_FALSE(all.calls.submit(3));
    CHECK_FALSE(testing::await(all.calls.ask(4)));

    all.is_held = false;
    CHECK(testing::await(all.calls.stop()));
    CHECK(all.settles(1));
    CHECK(all.sent == batches{{1}, {2}});
}

TEST_CASE("what is gathered when a batcher ends gets no result", "[async]")
{
    auto calls = std::make_unique<async::batcher<int, int>>(
        testing::test_host().executor(), async::batch_policy{.linger = 1h}, "test",
        [](std::vector<int> given) -> awaitable<std::vector<int>> { co_return given; });
    std::optional<int> result = 1;
    bool is_over = false;
    boost::asio::co_spawn(testing::test_host().loop(), calls->ask(1),
                          [&](std::exception_ptr, std::optional<int> given) {
                              result = given;
                              is_over = true;
                          });
    testing::eventually([&] { return calls->gathered() == 1; });

    calls.reset();
    REQUIRE(testing::eventually([&] { return is_over; }));
    CHECK_FALSE(result);
}

namespace {

awaitable<void> throw_if(const bool* is_broken)
{
    if (*is_broken)
        throw std::runtime_error("broken");
    co_return;
}

} // namespace

TEST_CASE("a call without results tells its waiters whether it succeeded", "[async]")
{
    bool is_broken = false;
    async::batcher<int, void> calls(testing::test_host().executor(), {}, "test",
                                    [&](const std::vector<int>&) { return throw_if(&is_broken); });
    CHECK(testing::await(calls.ask(1)).has_value());
    is_broken = true;
    CHECK_FALSE(testing::await(calls.ask(1)).has_value());
}

namespace {

struct tens_of
{
    int operator()(int number) const { return number / 10; }
};

} // namespace

TEST_CASE("whoever adds thousands has no more of a call than another share", "[async]")
{
    const bool is_broken = false;
    batches sent;
    async::batcher<int, void, async::unit_item_weight, tens_of> calls(
        testing::test_host().executor(), {.max_items = 4}, "test", [&](std::vector<int> given) {
            sent.push_back(std::move(given));
            return throw_if(&is_broken);
        });
    for (const int number : {10, 11, 12, 13, 14, 15, 20, 30})
        CHECK(calls.submit(number));
    CHECK(testing::await(calls.stop()));

    CHECK(sent == batches{{10, 20, 30, 11}, {12, 13, 14, 15}});
}
