#include "common/core/memory_budget.hpp"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

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
    memory_budget::shared_reservation reserved;
    {
        memory_budget memory(100);
        reserved = memory.try_reserve(1'000);
        CHECK(reserved);
        CHECK_FALSE(memory.try_reserve(1));
    }
    reserved.reset();
}

TEST_CASE("objects that grow share the bytes, and give theirs back", "[core][byte_budget]")
{
    memory_budget memory(512);
    {
        memory_budget::reservation large(memory);
        memory_budget::reservation small(memory);
        CHECK(large.grow(400));
        CHECK_FALSE(small.grow(200));
        CHECK(small.grow(100));
        CHECK(memory.available() == 12);

        const auto moved = std::move(large);
        small.clear();
        CHECK(memory.used() == 400);
        CHECK(small.grow(112));
        CHECK(memory.available() == 0);
    }
    CHECK(memory.used() == 0);
}

TEST_CASE("whoever shows the bytes in use hears of each change", "[core][byte_budget]")
{
    std::vector<std::size_t> shown;
    memory_budget memory(512, [&](std::size_t used) { shown.push_back(used); });
    {
        memory_budget::reservation reserved(memory);
        reserved.grow(100);
        reserved.grow(50);
        CHECK_FALSE(reserved.grow(500));
    }
    CHECK(shown == std::vector<std::size_t>{100, 150, 0});
}

TEST_CASE("a budget can be without bound", "[core][byte_budget]")
{
    memory_budget memory(memory_budget::unbounded);
    memory_budget::reservation reserved(memory);
    CHECK(reserved.grow(std::size_t{1} << 40));
    CHECK(reserved.grow(std::size_t{1} << 40));
    CHECK(memory.available() > std::size_t{1} << 60);
}
