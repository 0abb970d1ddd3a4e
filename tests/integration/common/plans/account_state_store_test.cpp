#include "common/plans/account_state_store.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

const account_id alice = account_id::make();
const account_id bob = account_id::make();

plans::account_state state_of(account_id account, std::int64_t version, std::string plan)
{
    plans::account_state state;
    state.account = account;
    state.version = version;
    state.plan = std::move(plan);
    return state;
}

void put(testing::scratch_database& scratch, const std::vector<plans::account_state>& states)
{
    testing::await(
        scratch.db().transact([states](pqxx::work& tx) { plans::put(tx, "mailbox", states); }));
}

std::optional<plans::account_state> find(testing::scratch_database& scratch, account_id account)
{
    return testing::await(scratch.db().transact(
        [account](pqxx::work& tx) { return plans::find(tx, "mailbox", account); }));
}

} // namespace

TEST_CASE("an account without a state is not found", "[plans][postgres]")
{
    testing::scratch_database scratch({"mailbox"});
    CHECK_FALSE(find(scratch, alice));
}

TEST_CASE("the higher version wins, whichever comes first", "[plans][postgres]")
{
    testing::scratch_database scratch({"mailbox"});

    put(scratch, {state_of(alice, 5, "pro"), state_of(bob, 1, "free")});
    put(scratch, {state_of(alice, 4, "starter"), state_of(bob, 2, "premium")});

    CHECK(find(scratch, alice)->plan == "pro");
    CHECK(find(scratch, alice)->version == 5);
    CHECK(find(scratch, bob)->plan == "premium");
}

TEST_CASE("of several versions in one batch the highest is kept", "[plans][postgres]")
{
    testing::scratch_database scratch({"mailbox"});

    put(scratch,
        {state_of(alice, 2, "pro"), state_of(alice, 3, "premium"), state_of(alice, 1, "free")});

    CHECK(find(scratch, alice)->plan == "premium");
}

TEST_CASE("a deleted account stays deleted", "[plans][postgres]")
{
    testing::scratch_database scratch({"mailbox"});
    auto gone = state_of(alice, 9, "pro");
    gone.is_deleted = true;

    put(scratch, {gone});
    put(scratch, {state_of(alice, 8, "pro")});

    CHECK(find(scratch, alice)->is_deleted);
}

TEST_CASE("an empty batch does nothing", "[plans][postgres]")
{
    testing::scratch_database scratch({"mailbox"});
    CHECK_NOTHROW(put(scratch, {}));
}
