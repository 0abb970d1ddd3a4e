#include "common/async/wait_group.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using async::deadline;

TEST_CASE("a group with nothing in it is not waited for", "[async]")
{
    async::wait_group group(testing::test_host().executor());
    CHECK(testing::await(group.wait_until(deadline::after(0s))));
}

TEST_CASE("a group is over once all that were added are done", "[async]")
{
    async::wait_group group(testing::test_host().executor(), 1);
    group.add();
    group.done();
    CHECK_FALSE(testing::await(group.wait_until(deadline::after(1ms))));
    CHECK(group.count() == 1);

    group.done();
    CHECK(testing::await(group.wait_until(deadline::after(0s))));
    group.add();
    CHECK_FALSE(testing::await(group.wait_until(deadline::after(1ms))));
}
