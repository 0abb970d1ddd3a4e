#include "common/core/memory_budget.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("bytes are taken until there is no room and come back with their hold",
          "[core][byte_budget]")
{
    memory_budget memory(100);
    auto first = memory.try_reserve(60);
    auto second = memory.try_reserve(40);

    CHECK(first);
    CHECK(second);
    CHECK_FALSE(memory.try_reserve(1));
    first.reset();
    CHECK(memory.used() == 40);
    CHECK(memory.try_reserve(60));
}

TEST_CASE("one thing alone may be larger than the whole, and a hold may outlive its budget",
          "[core][byte_budget]")
{
    memory_budget::reservation reserved;
    {
        memory_budget memory(100);
        reserved = memory.try_reserve(1'000);
        CHECK(reserved);
        CHECK_FALSE(memory.try_reserve(1));
    }
    reserved.reset();
}
