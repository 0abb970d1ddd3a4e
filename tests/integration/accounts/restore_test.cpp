#include "accounts/restore.hpp"

#include "accounts/account_repository.hpp"
#include "accounts/api_key.hpp"
#include "accounts/key_repository.hpp"
#include "accounts/sign_in_repository.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

class restored_database
{
public:
    testing::scratch_database scratch{{"accounts"}};
    account_repository accounts{scratch.db(), state_publisher("test", nullptr)};
    key_repository keys{scratch.db()};
    sign_in_repository sign_in{scratch.db()};
    restore of;

    restored_database()
    {
        of.id = "7000-2";
        of.moment = *parse_iso8601("2026-11-21T10:30:00Z");
    }

    account_id add(const std::string& email)
    {
        return await(accounts.create(account_id::make(), email, "premium", "hash")).value().id();
    }
    created_key add_key(account_id owner)
    {
        return await(keys.create(owner, key_id::make(), "k", key_allowance::plan)).value();
    }
    restore begin(std::int64_t published)
    {
        return await(begin_restore(db(), of, published)).value();
    }
    bool is_accepted(const created_key& key)
    {
        return await(keys.find_by_digest(api_key_digest(key.key.reveal()))).owner.has_value();
    }
    std::int64_t number(const std::string& sql)
    {
        return scratch.execute(sql)[0][0].as<std::int64_t>();
    }
    postgres::pool& db() { return scratch.db(); }
};

} // namespace

TEST_CASE("a restore raises the version above what Kafka holds, once", "[accounts][postgres]")
{
    restored_database restored;
    restored.add("a@example.com");

    const auto begun = restored.begin(5'000);
    const auto again = restored.begin(9'000);

    CHECK(begun.version == 5'001);
    CHECK(again.version == 5'001);
    CHECK(restored.number("SELECT version FROM accounts.changes") == 5'001);
    auto other = restored.of;
    other.moment += std::chrono::hours(1);
    CHECK(await(begin_restore(restored.db(), other, 1)).error().code == errc::conflict);
    other = restored.of;
    other.keeps_keys = true;
    CHECK(await(begin_restore(restored.db(), other, 1)).error().code == errc::conflict);
}

TEST_CASE("a restore publishes the state of every account again, deleted ones too",
          "[accounts][postgres]")
{
    restored_database restored;
    const auto first = restored.add("a@example.com");
    restored.add("b@example.com");
    const auto deleted = restored.add("c@example.com");
    REQUIRE(await(restored.accounts.remove(deleted)));
    restored.scratch.execute("DELETE FROM accounts.outbox");
    const auto begun = restored.begin(5'000);

    const auto done = await(republish_states(restored.db(), begun));
    const auto again = await(republish_states(restored.db(), begun));

    CHECK(done.is_finished);
    CHECK(done.rows == 3);
    CHECK(again.rows == 3);
    CHECK(restored.number("SELECT count(*) FROM accounts.outbox WHERE sequence = 5001 AND "
                          "lease_until <= now()") == 3);
    CHECK(restored.number("SELECT count(*) FROM accounts.outbox WHERE payload IS NULL AND key = '" +
                          deleted.text() + "'") == 1);
    CHECK(await(restored.accounts.find(first)).value().state.version == 5'001);
}

TEST_CASE("an account that changed while a restore was being settled keeps its newer version",
          "[accounts][postgres]")
{
    restored_database restored;
    const auto changed = restored.add("a@example.com");
    const auto begun = restored.begin(5'000);
    REQUIRE(await(restored.accounts.set_plan(changed, "pro", std::nullopt)));

    await(republish_states(restored.db(), begun));

    CHECK(await(restored.accounts.find(changed)).value().state.version == 5'002);
}

TEST_CASE("an interrupted step goes on after the batches that are done", "[accounts][postgres]")
{
    restored_database restored;
    restored.scratch.execute(
        "INSERT INTO accounts.accounts (account_id, email, plan, version) SELECT "
        "gen_random_uuid(), n || '@example.com', 'free', 1 FROM generate_series(1, 2500) AS n");
    const auto begun = restored.begin(1);

    CHECK_FALSE(await(republish_states(restored.db(), begun)).is_finished);
    CHECK_FALSE(await(republish_states(restored.db(), begun)).is_finished);
    const auto last = await(republish_states(restored.db(), begun));

    CHECK(last.is_finished);
    CHECK(last.rows == 2'500);
    CHECK(restored.number("SELECT count(DISTINCT key) FROM accounts.outbox") == 2'500);
}

TEST_CASE("accounts that only Kafka knows get a tombstone", "[accounts][postgres]")
{
    restored_database restored;
    const auto known = restored.add("a@example.com");
    const auto lost = account_id::make();
    restored.scratch.execute("DELETE FROM accounts.outbox");
    const auto begun = restored.begin(5'000);

    CHECK(await(find_lost_accounts(restored.db(), {known, lost})) == std::vector{lost});
    for (int i = 0; i < 2; ++i)
        CHECK(await(publish_lost_accounts(restored.db(), begun, {known, lost}, true)).rows == 1);

    CHECK(restored.number("SELECT count(*) FROM accounts.outbox WHERE payload IS NULL AND key = '" +
                          lost.text() + "'") == 1);
    CHECK(restored.number("SELECT count(*) FROM accounts.outbox") == 1);
}

TEST_CASE("a restore ends all sessions and links, and none of those that follow",
          "[accounts][postgres]")
{
    restored_database restored;
    const auto owner = restored.add("a@example.com");
    REQUIRE(await(restored.sign_in.open_session("first", owner, "hash")));
    REQUIRE(await(restored.sign_in.begin_reset(owner, "token")));
    const auto begun = restored.begin(1);

    CHECK(await(end_all_sessions(restored.db(), begun)).rows == 2);
    CHECK_FALSE(await(restored.sign_in.find_session("first")));
    CHECK(restored.number("SELECT count(*) FROM accounts.password_resets") == 0);

    REQUIRE(await(restored.sign_in.open_session("second", owner, "hash")));
    CHECK(await(end_all_sessions(restored.db(), begun)).rows == 2);
    CHECK(await(restored.sign_in.find_session("second")));
}

TEST_CASE("a suspended key is refused until it is activated", "[accounts][postgres]")
{
    restored_database restored;
    const auto owner = restored.add("a@example.com");
    const auto key = restored.add_key(owner);
    const auto other = restored.add_key(owner);
    const auto begun = restored.begin(1);

    CHECK(await(suspend_all_keys(restored.db(), begun)).rows == 2);
    CHECK_FALSE(restored.is_accepted(key));
    CHECK(await(restored.keys.list(owner)).value().front().is_suspended);

    const auto before = await(restored.keys.read_changes(std::nullopt)).version;
    REQUIRE(await(restored.keys.activate(owner, key.record.id)));
    CHECK(restored.is_accepted(key));
    CHECK_FALSE(restored.is_accepted(other));
    CHECK(await(restored.keys.read_changes(before)).accounts == std::vector{owner});

    CHECK(await(suspend_all_keys(restored.db(), begun)).rows == 2); // the second run does nothing
    CHECK(restored.is_accepted(key));
    REQUIRE(await(restored.keys.revoke(owner, other.record.id)));
    CHECK(await(restored.keys.activate(owner, other.record.id)).error().code == errc::not_found);
}
