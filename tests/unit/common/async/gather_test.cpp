#include "common/async/gather.hpp"

#include "common/async/reset_event.hpp"
#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>

using namespace tempinbox;

namespace {

// The last of them to begin lets all go on.
awaitable<int> wait_for_others(int number, int count, std::shared_ptr<int> begun,
                               std::shared_ptr<async::reset_event> all_begun)
{
    if (++*begun == count)
        all_begun->set();
    co_await all_begun->wait();
    co_return number;
}

awaitable<int> fail_or_count(int number, std::shared_ptr<int> ended)
{
    ++*ended;
    if (number == 1)
        throw std::runtime_error("the second fails");
    co_return number;
}

} // namespace

TEST_CASE("what runs at the same time returns in its order", "[async]")
{
    const auto begun = std::make_shared<int>(0);
    const auto all_begun = std::make_shared<async::reset_event>(testing::test_host().executor());
    std::vector<awaitable<int>> all;
    for (int i = 0; i < 3; ++i)
        all.push_back(wait_for_others(i, 3, begun, all_begun));

    const auto results = testing::await(async::gather(std::move(all)));

    CHECK(results == std::vector{0, 1, 2});
    CHECK(testing::await(async::gather(std::vector<awaitable<int>>())).empty());
}

TEST_CASE("an exception waits until the others have ended", "[async]")
{
    const auto ended = std::make_shared<int>(0);
    std::vector<awaitable<int>> all;
    for (int i = 0; i < 3; ++i)
        all.push_back(fail_or_count(i, ended));

    CHECK_THROWS_WITH(testing::await(async::gather(std::move(all))), "the second fails");
    CHECK(*ended == 3);
}
