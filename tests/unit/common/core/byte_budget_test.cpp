#include "common/core/byte_budget.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("bytes are taken until there is no room and come back with their hold",
          "[core][byte_budget]")
{
    byte_budget memory(100);
    auto first = memory.try_take(60);
    auto second = memory.try_take(40);

    CHECK(first);
    CHECK(second);
    CHECK_FALSE(memory.try_take(1));
    first.reset();
    CHECK(memory.used() == 40);
    CHECK(memory.try_take(60));
}

TEST_CASE("one thing alone may be larger than the whole, and a hold may outlive its budget",
          "[core][byte_budget]")
{
    byte_budget::hold kept;
    {
        byte_budget memory(100);
        kept = memory.try_take(1'000);
        CHECK(kept);
        CHECK_FALSE(memory.try_take(1));
    }
    kept.reset();
}
