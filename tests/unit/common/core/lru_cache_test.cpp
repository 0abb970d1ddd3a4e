#include "common/core/lru_cache.hpp"

#include <catch2/catch.hpp>

#include <string>

using tempinbox::lru_cache;

namespace {

struct length
{
    std::size_t operator()(int, const std::string& text) const { return text.size(); }
};

} // namespace

TEST_CASE("the entry unused for longest makes room", "[lru_cache]")
{
    lru_cache<int, int> cache(2);
    cache.put(1, 10);
    cache.put(2, 20);
    REQUIRE(cache.find(1));
    cache.put(3, 30);

    CHECK(cache.size() == 2);
    CHECK(cache.find(1));
    CHECK_FALSE(cache.find(2));
    CHECK(*cache.find(3) == 30);
}

TEST_CASE("as many go as weigh too much together, and what is put again weighs what it is now",
          "[lru_cache]")
{
    lru_cache<int, std::string, length> cache(10);
    cache.put(1, "aaa");
    cache.put(2, "bbb");
    cache.put(3, "ccc");
    cache.put(2, "bbbbb");
    CHECK(cache.size() == 2); // 1 was evicted
    CHECK(cache.weight() == 8);
    cache.put(4, "dddddddd");

    CHECK(cache.size() == 1);
    CHECK(cache.weight() == 8);
    cache.erase(4);
    CHECK(cache.weight() == 0);
    CHECK_FALSE(cache.find(4));
}
