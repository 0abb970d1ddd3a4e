#include "common/async/fair_semaphore.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <list>
#include <string>
#include <vector>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

using semaphore = async::fair_semaphore<char>;

struct holders
{
    std::vector<std::string> admitted; // in the order in which they were
    std::vector<std::string> refused;
    std::list<semaphore::permit> permits;
};

awaitable<void> acquire_into(semaphore& of, std::string name, holders& all, async::deadline until)
{
    auto permit = co_await of.acquire(name.front(), until);
    (permit ? all.admitted : all.refused).push_back(name);
    if (permit)
        all.permits.push_back(std::move(*permit));
}

// Its key is the first letter of its name.
void begin(semaphore& of, const std::string& name, holders& all,
           async::deadline until = async::deadline::never())
{
    boost::asio::co_spawn(testing::test_host().loop(), acquire_into(of, name, all, until),
                          boost::asio::detached);
}

bool is_admitted(const holders& all, std::size_t count)
{
    return testing::eventually([&] { return all.admitted.size() >= count; });
}

} // namespace

TEST_CASE("keys take turns for permits, and one has a bounded number of them", "[async]")
{
    semaphore pages(testing::test_host().executor(), 2, 1);
    holders all;
    for (const auto* name : {"a1", "a2", "a3", "b1", "c1"})
        begin(pages, name, all);

    REQUIRE(is_admitted(all, 2));
    CHECK(all.admitted == std::vector<std::string>{"a1", "b1"});
    CHECK(pages.has_waiter('a'));
    CHECK_FALSE(pages.has_waiter('b'));
    all.permits.pop_front(); // a's
    REQUIRE(is_admitted(all, 3));
    CHECK(all.admitted.size() == 3);
    all.permits.clear();
    REQUIRE(is_admitted(all, 4));
    all.permits.clear();
    REQUIRE(is_admitted(all, 5));
    CHECK(all.admitted.back() == "a3");
    CHECK(all.refused.empty());
}

TEST_CASE("who is not admitted in time leaves without a permit", "[async]")
{
    semaphore pages(testing::test_host().executor(), 1, 1);
    holders all;
    begin(pages, "a1", all);
    REQUIRE(is_admitted(all, 1));
    begin(pages, "a2", all, async::deadline::after(10ms));
    begin(pages, "b1", all, async::deadline::after(10ms));
    REQUIRE(testing::eventually([&] { return all.refused.size() == 2; }));

    all.permits.clear();
    begin(pages, "b2", all);

    REQUIRE(is_admitted(all, 2));
    CHECK(all.admitted.back() == "b2");
}
