#include "gateway/sessions/password_hasher.hpp"

#include "common/testing/await.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const crypto::password_cost cheap(1, 8 * 1024);

struct tally
{
    int hashed = 0;
    int refused = 0;
};

awaitable<void> hash_one(password_hasher& hasher, tally& outcome)
{
    const auto hash = co_await hasher.hash(secret("a password"));
    ++(hash ? outcome.hashed : outcome.refused);
}

} // namespace

TEST_CASE("a hash that was made is matched by its password alone, and nobody's by none", "[gateway][password]")
{
    password_hasher hasher(testing::test_host(), cheap);

    const auto hash = testing::await(hasher.hash(secret("a password"))).value();

    CHECK(testing::await(hasher.matches(hash, secret("a password"))).value());
    CHECK_FALSE(testing::await(hasher.matches(hash, secret("another one"))).value());
    CHECK_FALSE(testing::await(hasher.matches("", secret("a password"))).value());
    CHECK_FALSE(testing::await(hasher.matches("", secret(""))).value());
}

TEST_CASE("past the queue's length passwords are refused at once, and the others are all answered", "[gateway][password]")
{
    password_hasher hasher(testing::test_host(), cheap);
    constexpr int most = password_hasher::threads + password_hasher::most_waiting;
    tally outcome;

    for (int i = 0; i < most + 5; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), hash_one(hasher, outcome), boost::asio::detached);

    CHECK(testing::eventually([&] { return outcome.hashed + outcome.refused == most + 5; }));
    CHECK(outcome.refused <= 5);
    CHECK(outcome.refused >= 1);
    CHECK(testing::await(hasher.hash(secret("a password"))).has_value());
}
