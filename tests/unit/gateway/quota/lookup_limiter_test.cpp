#include "gateway/quota/lookup_limiter.hpp"

#include "common/testing/await.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <vector>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::await;
using testing::eventually;

namespace {

// A lookup that enters the limiter, and its result.
struct lookup_waiter
{
    bool is_answered = false;
    lookup_limiter::slot slot;
};

awaitable<void> run(lookup_limiter& limiter, std::shared_ptr<lookup_waiter> one)
{
    one->slot = co_await limiter.enter();
    one->is_answered = true;
}

std::shared_ptr<lookup_waiter> begin_enter(lookup_limiter& limiter)
{
    auto one = std::make_shared<lookup_waiter>();
    boost::asio::co_spawn(testing::test_host().loop(), run(limiter, one), boost::asio::detached);
    testing::test_host().loop().restart();
    testing::test_host().loop().poll();
    return one;
}

} // namespace

TEST_CASE("a few ask at once, some wait in line, the rest are refused", "[gateway][lookup_limiter]")
{
    lookup_limiter limiter(testing::test_host(), 2, 2, 10s);
    auto first = begin_enter(limiter), second = begin_enter(limiter);
    const auto third = begin_enter(limiter), fourth = begin_enter(limiter),
               fifth = begin_enter(limiter);

    CHECK(first->slot);
    CHECK(second->slot);
    CHECK_FALSE(third->is_answered);
    CHECK_FALSE(fourth->is_answered);
    REQUIRE(fifth->is_answered);
    CHECK_FALSE(fifth->slot);

    first->slot.reset();
    CHECK(eventually([&] { return third->is_answered; }));
    CHECK(third->slot);
    CHECK_FALSE(fourth->is_answered);
    second->slot.reset();
    CHECK(eventually([&] { return fourth->is_answered; }));
    CHECK(fourth->slot);
    third->slot.reset();
    fourth->slot.reset();
    CHECK(await(limiter.enter()));
}

TEST_CASE("who waited in vain is refused, and leaves the line", "[gateway][lookup_limiter]")
{
    lookup_limiter limiter(testing::test_host(), 1, 1, 50ms);
    auto first = begin_enter(limiter);
    const auto second = begin_enter(limiter);

    CHECK(eventually([&] { return second->is_answered; }));
    CHECK_FALSE(second->slot);
    first->slot.reset();
    CHECK(await(limiter.enter()));
}
