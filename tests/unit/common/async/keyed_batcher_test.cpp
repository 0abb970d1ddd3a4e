#include "common/async/batcher.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

// Doubles numbers, at most two in a call; a call ends when the test lets it.
class doubling
{
public:
    explicit doubling(std::chrono::milliseconds timeout = 20s)
        : calls_(testing::test_host().executor(), {.max_items = 2, .timeout = timeout},
                 "numbers cannot be doubled",
                 [this](std::vector<int> numbers) { return answer(std::move(numbers)); })
    {}

    void ask(int number)
    {
        boost::asio::co_spawn(testing::test_host().loop(), note(number), boost::asio::detached);
    }
    bool settles(std::size_t answers)
    {
        return testing::eventually([&] { return answered.size() == answers; });
    }
    bool has_sent(std::size_t calls)
    {
        return testing::eventually([&] { return sent.size() == calls; });
    }

    std::vector<std::vector<int>> sent;
    std::multimap<int, std::optional<int>> answered;
    bool is_held = false;
    bool is_broken = false;

private:
    awaitable<void> note(int number)
    {
        auto answer = co_await calls_.ask(number);
        answered.emplace(number, answer);
    }
    awaitable<std::map<int, int>> answer(std::vector<int> numbers)
    {
        sent.push_back(numbers);
        while (is_held)
            co_await boost::asio::post(testing::test_host().executor(), boost::asio::use_awaitable);
        if (is_broken)
            throw std::runtime_error("broken");
        std::map<int, int> answers;
        for (const int number : numbers)
            if (number != 13)
                answers[number] = 2 * number;
        co_return answers;
    }

    async::keyed_batcher<int, int> calls_;
};

} // namespace

TEST_CASE("what is asked together goes in one call, the same question once", "[async]")
{
    doubling calls;

    for (const int number : {1, 2, 1, 1})
        calls.ask(number);
    REQUIRE(calls.settles(4));

    CHECK(calls.sent == std::vector<std::vector<int>>{{1, 2}});
    CHECK(calls.answered.count(1) == 3);
    CHECK(calls.answered.find(2)->second == 4);
}

TEST_CASE("nobody joins a call that has begun, and a call carries no more than it may", "[async]")
{
    doubling calls;
    calls.is_held = true;
    calls.ask(1);
    REQUIRE(calls.has_sent(1));

    for (const int number : {1, 2, 3})
        calls.ask(number);
    testing::eventually([&] { return calls.sent.size() > 1; }, 20ms);
    CHECK(calls.sent.size() == 1);
    calls.is_held = false;
    REQUIRE(calls.settles(4));

    CHECK(calls.sent == std::vector<std::vector<int>>{{1}, {1, 2}, {3}});
}

TEST_CASE("a call that fails, a question without an answer and one past its timeout are answered "
          "by nothing",
          "[async]")
{
    doubling calls(50ms);
    calls.ask(13);
    REQUIRE(calls.settles(1));
    CHECK_FALSE(calls.answered.find(13)->second);

    calls.is_broken = true;
    calls.ask(1);
    REQUIRE(calls.settles(2));
    CHECK_FALSE(calls.answered.find(1)->second);

    calls.is_broken = false;
    calls.is_held = true;
    calls.ask(2);
    REQUIRE(calls.settles(3));
    CHECK_FALSE(calls.answered.find(2)->second);
    calls.is_held = false;
    calls.ask(3);
    REQUIRE(calls.settles(4));
    CHECK(calls.answered.find(3)->second == 6);
}
