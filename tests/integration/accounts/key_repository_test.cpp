#include "accounts/key_repository.hpp"

#include "accounts/account_repository.hpp"
#include "accounts/api_key.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

class arranged_keys
{
public:
    testing::scratch_database scratch{{"accounts"}};
    account_repository accounts{scratch.db(), state_publisher("test", nullptr)};
    key_repository keys{scratch.db()};

    account_id account(const std::string& plan, const std::string& email = "a@example.com")
    {
        return await(accounts.create(account_id::make(), email, plan)).value().id();
    }
    created_key create(account_id owner, const std::string& label = "k")
    {
        return await(keys.create(owner, key_id::make(), label, key_allowance::plan)).value();
    }
    result<created_key> try_create(account_id owner, const key_access& access)
    {
        return await(keys.create(owner, key_id::make(), "k", key_allowance::plan, access));
    }
    created_key create_restricted(account_id owner, const key_access& access)
    {
        return try_create(owner, access).value();
    }
    // Lets a key expire a minute ago.
    void expire(key_id key)
    {
        scratch.execute("UPDATE accounts.api_keys SET expires_at = now() - interval '1 minute'"
                        " WHERE key_id = '" +
                        key.text() + "'");
    }
    key_lookup find(const secret& key)
    {
        return await(keys.find_by_digest(api_key_digest(key.reveal())));
    }
};

awaitable<void> create_key(key_repository& keys, account_id owner, int& made, int& refused)
{
    const auto outcome = co_await keys.create(owner, key_id::make(), "k", key_allowance::plan);
    ++(outcome ? made : refused);
}

} // namespace

TEST_CASE("a key is stored as its digest alone, and found by it with its account",
          "[accounts][postgres]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    const auto made = arranged.create(owner, "CI");

    const auto found = arranged.find(made.key);

    REQUIRE(found.owner);
    CHECK(found.owner->account.account == owner);
    CHECK(found.owner->account.plan == "premium");
    CHECK(found.owner->key == made.record.id);
    CHECK(found.owner->position == 1);
    CHECK(
        found.version ==
        arranged.scratch.execute("SELECT version FROM accounts.changes")[0][0].as<std::int64_t>());
    const auto row = arranged.scratch.execute("SELECT api_keys::text FROM accounts.api_keys")[0][0]
                         .as<std::string>();
    CHECK(row.find(made.key.reveal()) == std::string::npos);
    CHECK(row.find(made.key.reveal().substr(12)) == std::string::npos);
}

TEST_CASE("unknown and revoked keys have no owner, and a key is revoked once",
          "[accounts][postgres]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    const auto other = arranged.account("premium", "b@example.com");
    const auto made = arranged.create(owner);

    CHECK_FALSE(arranged.find(make_api_key()).owner);
    CHECK(await(arranged.keys.revoke(other, made.record.id)).error().code == errc::not_found);
    CHECK(arranged.find(made.key).owner);
    CHECK(await(arranged.keys.revoke(owner, made.record.id)));
    CHECK_FALSE(arranged.find(made.key).owner);
    CHECK(await(arranged.keys.revoke(owner, made.record.id)).error().code == errc::not_found);
}

TEST_CASE("keys are counted from the oldest, and a revoked one makes room", "[accounts][postgres]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    std::vector<created_key> made;
    for (int i = 0; i < 5; ++i)
        made.push_back(arranged.create(owner, "k" + std::to_string(i)));

    const auto sixth =
        await(arranged.keys.create(owner, key_id::make(), "k5", key_allowance::plan));
    CHECK(sixth.error().code == errc::permission_denied);
    CHECK(sixth.error().message == "The plan premium has 5 API keys, all in use: revoke one first");
    CHECK(arranged.find(made[4].key).owner->position == 5);

    REQUIRE(await(arranged.keys.revoke(owner, made[0].record.id)));
    CHECK(arranged.find(made[4].key).owner->position == 4);
    CHECK(await(arranged.keys.create(owner, key_id::make(), "k6", key_allowance::plan)));
    const auto listed = await(arranged.keys.list(owner)).value();
    REQUIRE(listed.size() == 5);
    CHECK(listed.front().label == "k1");
    CHECK(listed.back().label == "k6");
    CHECK(listed.back().position == 5);
}

TEST_CASE("keys made at the same time do not pass the plan's number", "[accounts][postgres]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    int made = 0, refused = 0;

    for (int i = 0; i < 20; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              create_key(arranged.keys, owner, made, refused),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return made + refused == 20; }));

    CHECK(made == 5);
}

TEST_CASE("the operator may make keys that wait for a plan with API access", "[accounts][postgres]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("free");

    const auto refused =
        await(arranged.keys.create(owner, key_id::make(), "k", key_allowance::plan));
    CHECK(refused.error().code == errc::permission_denied);
    CHECK(refused.error().message == "API keys are not part of the plan free");
    CHECK(await(arranged.keys.create(owner, key_id::make(), "k", key_allowance::operator_made)));
    CHECK(await(arranged.keys.create(account_id::make(), key_id::make(), "k", key_allowance::plan))
              .error()
              .code == errc::not_found);
    CHECK(await(arranged.keys.create(owner, key_id::make(), "", key_allowance::operator_made))
              .error()
              .code == errc::invalid_argument);
}

TEST_CASE("changes name the accounts that changed since a version", "[accounts][postgres]")
{
    arranged_keys arranged;
    const auto ann = arranged.account("premium", "ann@example.com");
    const auto bob = arranged.account("premium", "bob@example.com");
    const auto start = await(arranged.keys.read_changes(std::nullopt));
    CHECK(start.accounts.empty());
    CHECK(await(arranged.keys.read_changes(start.version)).accounts.empty());

    const auto made = arranged.create(ann);
    const auto after_key = await(arranged.keys.read_changes(start.version));
    REQUIRE(await(arranged.accounts.set_plan(bob, "pro", std::nullopt)));
    REQUIRE(await(arranged.keys.revoke(ann, made.record.id)));
    const auto after_both = await(arranged.keys.read_changes(after_key.version));

    CHECK(after_key.version == start.version + 1);
    CHECK(after_key.accounts == std::vector{ann});
    CHECK(after_both.accounts.size() == 2);
    CHECK(after_both.is_complete);
}

TEST_CASE("the last use is kept, and an older time does not replace it", "[accounts][postgres]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    const auto key = arranged.create(owner).record.id;
    const auto now = system_clock_source{}.now();
    const auto version = await(arranged.keys.read_changes(std::nullopt)).version;

    const auto record = [&](time_point at) {
        await(arranged.keys.record_uses({key_repository::use(owner, key, at)}));
    };
    record(now);
    record(now - std::chrono::hours(1));

    CHECK(await(arranged.keys.list(owner))->front().last_used_at == now);
    CHECK(await(arranged.keys.read_changes(std::nullopt)).version == version); // no need to check
}

TEST_CASE("a key made again under its id replaces the one whose response was lost",
          "[accounts][postgres]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("pro"); // has one key
    const auto id = key_id::make();
    const auto lost = await(arranged.keys.create(owner, id, "k", key_allowance::plan)).value();

    const auto created = await(arranged.keys.create(owner, id, "k", key_allowance::plan));

    REQUIRE(created);
    CHECK(await(arranged.keys.list(owner)).value().size() == 1);
    CHECK_FALSE(arranged.find(lost.key).owner);
    REQUIRE(arranged.find(created->key).owner);
    CHECK(arranged.find(created->key).owner->key == id);
}

TEST_CASE("what a key may do is stored with it, shown in the list, and found with its owner",
          "[accounts][postgres][key-access]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    const auto plain = arranged.create(owner);
    key_access access;
    access.scopes = scope_set::of_names({"inboxes:write", "emails:read"});
    access.tag = "run 7, \"ci\"";
    access.expires_at = from_unix_micros(4'102'444'800'123'456);
    const auto made = arranged.create_restricted(owner, access);

    const auto found = arranged.find(made.key).owner;
    const auto listed = await(arranged.keys.list(owner)).value();

    REQUIRE(found);
    CHECK(found->access.scopes == access.scopes);
    CHECK(found->access.tag == access.tag);
    CHECK(found->access.expires_at == access.expires_at);
    CHECK(found->has_own_responses);
    REQUIRE(listed.size() == 2);
    CHECK_FALSE(listed[0].access.is_restricted());
    CHECK(listed[1].access.scopes == access.scopes);
    CHECK(listed[1].access.tag == access.tag);
    CHECK(listed[1].access.expires_at == access.expires_at);
    CHECK_FALSE(arranged.find(plain.key).owner->access.is_restricted());
}

TEST_CASE("a key from before may do everything, and its stored responses are its account's",
          "[accounts][postgres][key-access]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    const auto key = make_api_key();
    // As the release before inserts it.
    arranged.scratch.execute(
        "INSERT INTO accounts.api_keys (account_id, key_id, label, prefix, key_sha256, version)"
        " VALUES ('" +
        owner.text() + "', '" + key_id::make().text() + "', 'k', 'ti_live_abcd', sha256('" +
        key.reveal() + "'), 1)");

    const auto found = arranged.find(key).owner;

    REQUIRE(found);
    CHECK_FALSE(found->access.is_restricted());
    CHECK_FALSE(found->has_own_responses);
}

TEST_CASE("a release that knows no restrictions does not find a restricted key",
          "[accounts][postgres][key-access]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    key_access access;
    access.scopes = scope_set::of_names({"account:read"});
    const auto restricted = arranged.create_restricted(owner, access);
    const auto plain = arranged.create(owner);
    const auto is_found_by_digest = [&](const secret& key) {
        return arranged.scratch
            .execute("SELECT count(*) FROM accounts.api_keys WHERE key_sha256 = sha256('" +
                     key.reveal() + "')")[0][0]
            .as<int>();
    };

    CHECK(is_found_by_digest(plain.key) == 1);
    CHECK(is_found_by_digest(restricted.key) == 0);
    CHECK(arranged.find(restricted.key).owner);
    REQUIRE(await(arranged.keys.revoke(owner, restricted.record.id)));
    CHECK_FALSE(arranged.find(restricted.key).owner);
}

TEST_CASE("a key that cannot be made so is refused, and nothing is stored",
          "[accounts][postgres][key-access]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    key_access access;
    access.tag = "ci";
    access.scopes = scope_set::of_names({"webhooks:read"});

    const auto refused = arranged.try_create(owner, access);

    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::invalid_argument);
    CHECK(await(arranged.keys.list(owner)).value().empty());
}

TEST_CASE("an expired key leaves its place to others, and is listed for 30 days",
          "[accounts][postgres][key-access]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    std::vector<created_key> made;
    for (int i = 0; i < 5; ++i)
        made.push_back(arranged.create(owner, "k" + std::to_string(i)));
    CHECK_FALSE(arranged.try_create(owner, {}));

    arranged.expire(made[1].record.id);

    CHECK(arranged.find(made[4].key).owner->position == 4);
    CHECK(arranged.create(owner, "k5").record.position == 5);
    const auto listed = await(arranged.keys.list(owner)).value();
    REQUIRE(listed.size() == 6);
    CHECK(listed.back().position == 5);
    arranged.scratch.execute("UPDATE accounts.api_keys SET expires_at = now() - interval '31 days'"
                             " WHERE key_id = '" +
                             made[1].record.id.text() + "'");
    CHECK(await(arranged.keys.list(owner)).value().size() == 5);
}

TEST_CASE("a key's position is known until the first older one expires",
          "[accounts][postgres][key-access]")
{
    arranged_keys arranged;
    const auto owner = arranged.account("premium");
    key_access ends;
    ends.expires_at = system_clock_source{}.now() + std::chrono::hours(1);
    const auto first = arranged.create_restricted(owner, ends);
    const auto second = arranged.create(owner);

    CHECK_FALSE(arranged.find(first.key).owner->position_ends_at);
    CHECK(arranged.find(second.key).owner->position == 2);
    CHECK(arranged.find(second.key).owner->position_ends_at == ends.expires_at);
    arranged.expire(first.record.id);
    CHECK(arranged.find(second.key).owner->position == 1);
    CHECK_FALSE(arranged.find(second.key).owner->position_ends_at);
}
