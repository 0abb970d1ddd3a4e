#include "accounts/sign_up_store.hpp"

#include "accounts/user_store.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

TEST_CASE("a code has eight digits and is never to be foreseen", "[accounts][sign-up]")
{
    const auto first = make_sign_up_code();
    const auto second = make_sign_up_code();

    CHECK(first.reveal().size() == 8);
    CHECK(std::all_of(first.reveal().begin(), first.reveal().end(),
                      [](char c) { return c >= '0' && c <= '9'; }));
    CHECK(first.reveal() != second.reveal());
}

TEST_CASE("a code is good once, for its own address, however that is written",
          "[accounts][sign-up][postgres]")
{
    testing::scratch_database scratch{{"accounts"}};
    sign_up_store codes{scratch.db()};
    await(codes.put("Ada@example.com", "12345678"));

    CHECK_FALSE(await(codes.take("eve@example.com", "12345678")));
    CHECK(await(codes.take("ada@EXAMPLE.com", "12345678")));
    CHECK_FALSE(await(codes.take("ada@example.com", "12345678")));
}

TEST_CASE("a newer code replaces an older one", "[accounts][sign-up][postgres]")
{
    testing::scratch_database scratch{{"accounts"}};
    sign_up_store codes{scratch.db()};
    await(codes.put("ada@example.com", "11111111"));
    await(codes.put("ada@example.com", "22222222"));

    CHECK_FALSE(await(codes.take("ada@example.com", "11111111")));
    CHECK(await(codes.take("ada@example.com", "22222222")));
}

TEST_CASE("after five wrong codes the right one is wrong, too", "[accounts][sign-up][postgres]")
{
    testing::scratch_database scratch{{"accounts"}};
    sign_up_store codes{scratch.db()};
    await(codes.put("ada@example.com", "12345678"));

    for (int i = 0; i < sign_up_store::max_wrong_codes; ++i)
        CHECK_FALSE(await(codes.take("ada@example.com", "87654321")));

    CHECK_FALSE(await(codes.take("ada@example.com", "12345678")));
}

TEST_CASE("a code ends after a quarter of an hour", "[accounts][sign-up][postgres]")
{
    testing::scratch_database scratch{{"accounts"}};
    sign_up_store codes{scratch.db()};
    user_store users{scratch.db()};
    await(codes.put("ada@example.com", "12345678"));
    scratch.execute(
        "UPDATE accounts.sign_ups SET expires_at = expires_at - interval '15 minutes 1 second'");

    CHECK_FALSE(await(codes.take("ada@example.com", "12345678")));
    await(users.purge());
    CHECK(scratch.execute("SELECT 1 FROM accounts.sign_ups").empty());
}
