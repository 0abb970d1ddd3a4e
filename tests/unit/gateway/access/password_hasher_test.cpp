#include "gateway/access/password_hasher.hpp"

#include "common/testing/await.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const crypto::password_cost cheap(1, 8 * 1024);

struct tally
{
    int hashed = 0;
    int refused = 0;

    int answered() const { return hashed + refused; }
};

std::ptrdiff_t threads_of_this_process()
{
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
}

awaitable<void> hash_one(password_hasher& hasher, tally& outcome)
{
    const auto hash = co_await hasher.hash(secret("a password"));
    ++(hash ? outcome.hashed : outcome.refused);
}

} // namespace

TEST_CASE("a hash that was made is matched by its password alone, and nobody's by none",
          "[gateway][password]")
{
    password_hasher hasher(testing::test_host(), cheap);

    const auto hash = testing::await(hasher.hash(secret("a password"))).value();

    CHECK(testing::await(hasher.matches(hash, secret("a password"))).value());
    CHECK_FALSE(testing::await(hasher.matches(hash, secret("another one"))).value());
    CHECK_FALSE(testing::await(hasher.matches("", secret("a password"))).value());
    CHECK_FALSE(testing::await(hasher.matches("", secret(""))).value());
}

TEST_CASE("past the queue's length passwords are refused at once, and the others are all answered",
          "[gateway][password]")
{
    password_hasher hasher(testing::test_host(), cheap);
    constexpr int capacity = password_hasher::threads + password_hasher::max_queued;
    tally outcome;

    for (int i = 0; i < capacity + 5; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), hash_one(hasher, outcome),
                              boost::asio::detached);

    CHECK(testing::eventually([&] { return outcome.hashed + outcome.refused == capacity + 5; }));
    CHECK(outcome.refused <= 5);
    CHECK(outcome.refused >= 1);
    CHECK(testing::await(hasher.hash(secret("a password"))).has_value());
}

TEST_CASE("two passwords at most are hashed at the same time, whatever waits",
          "[gateway][password]")
{
    const auto before = threads_of_this_process();
    password_hasher hasher(testing::test_host(), cheap);
    constexpr int requested = 8;
    tally outcome;
    std::ptrdiff_t max_threads = 0;

    for (int i = 0; i < requested; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), hash_one(hasher, outcome),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] {
        max_threads = std::max(max_threads, threads_of_this_process() - before);
        return outcome.answered() == requested;
    }));

    // Each computation keeps one thread of the hasher's own.
    CHECK(outcome.hashed == requested);
    CHECK(max_threads <= 2);
}
