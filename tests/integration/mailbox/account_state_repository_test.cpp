#include "integration/mailbox/seeds.hpp"
#include "mailbox/account_state_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

TEST_CASE("nothing older than its tombstone makes an account live again",
          "[mailbox][deleted-account][postgres]")
{
    seeds::world world;
    account_state_repository accounts(world.scratch.db());
    auto state = seeds::account();
    const bool was_known = GENERATE(true, false);
    INFO((was_known ? "a known account" : "an unknown one"));
    if (was_known)
        testing::await(accounts.put({state}));

    // Published before the deletion, by a process whose outbox was slow.
    testing::await(accounts.mark_deleted(state.account, 9));
    state.version = 8;
    testing::await(accounts.put({state}));

    const auto found = testing::await(accounts.find(state.account)).value();
    CHECK(found.is_deleted);
    CHECK(found.version == 9);
    CHECK(world.try_create(state).error().code == errc::permission_denied);
    CHECK(testing::await(world.inboxes.create_operator_inboxes(state.account, "mail.test"))
              .error()
              .code == errc::permission_denied);
}

TEST_CASE("a tombstone holds against whatever version was known",
          "[mailbox][deleted-account][postgres]")
{
    seeds::world world;
    account_state_repository accounts(world.scratch.db());
    auto state = seeds::account();
    state.version = 40;
    testing::await(accounts.put({state}));

    testing::await(accounts.mark_deleted(state.account, 9));

    CHECK(testing::await(accounts.find(state.account)).value().is_deleted);
}
