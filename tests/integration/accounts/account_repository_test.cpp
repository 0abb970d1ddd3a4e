#include "accounts/account_repository.hpp"

#include "accounts/idempotency_repository.hpp"
#include "accounts/key_repository.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

// A store whose published events a test can read.
class arranged_accounts
{
public:
    testing::scratch_database scratch{{"accounts"}};
    std::vector<outbox::row> published;
    account_repository store{scratch.db(),
                             state_publisher("test", [this](std::vector<outbox::row> rows) {
                                 published.insert(published.end(), rows.begin(), rows.end());
                             })};

    account create(const std::string& email, const std::string& plan)
    {
        return await(store.create(account_id::make(), email, plan)).value();
    }

    accounts::v1::AccountState with_state_event(std::size_t index) const
    {
        accounts::v1::AccountState message;
        message.ParseFromString(published.at(index).message.value);
        return message;
    }
};

awaitable<void> change_plan(account_repository& store, account_id id, std::string plan, int& done)
{
    const auto changed = co_await store.set_plan(id, std::move(plan), std::nullopt);
    done += changed ? 1 : 0;
}

} // namespace

TEST_CASE("a new account can be found by id and by address, whatever its case",
          "[accounts][postgres]")
{
    arranged_accounts arranged;

    const auto created = arranged.create("Name@Example.com", "pro");

    const auto by_id = await(arranged.store.find(created.id()));
    const auto by_email = await(arranged.store.find_by_email("name@example.COM"));
    REQUIRE(by_id);
    REQUIRE(by_email);
    CHECK(by_id->email == "Name@Example.com");
    CHECK(by_email->id() == created.id());
    CHECK(by_id->state.plan == "pro");
    CHECK_FALSE(by_id->state.plan_ends_at);
    CHECK(by_id->state.limits.api_access);
    CHECK(by_id->state.limits.requests_per_day == 3'000);
    CHECK(by_id->state.limits.max_ttl == std::chrono::hours(168));
    CHECK_FALSE(by_id->state.limits_after_end.api_access);
}

TEST_CASE("an address in use, a bad address and an unknown plan are refused and change nothing",
          "[accounts][postgres]")
{
    arranged_accounts arranged;
    const auto first = arranged.create("a@example.com", "pro");

    const auto taken = await(arranged.store.create(account_id::make(), "A@example.com", "free"));
    const auto bad = await(arranged.store.create(account_id::make(), "nobody", "free"));
    const auto unknown = await(arranged.store.create(account_id::make(), "b@example.com", "gold"));

    CHECK(taken.error().code == errc::conflict);
    CHECK(bad.error().code == errc::invalid_argument);
    CHECK(unknown.error().message ==
          "plan must be one of free, starter, pass7, pro, business, premium, not \"gold\"");
    CHECK(await(arranged.store.list(10, std::nullopt)).size() == 1);
    CHECK(arranged.published.size() == 1);
    CHECK(
        arranged.scratch.execute("SELECT version FROM accounts.changes")[0][0].as<std::int64_t>() ==
        first.state.version);
}

TEST_CASE("a 7-Day Pass ends after seven days, other plans do not", "[accounts][postgres]")
{
    arranged_accounts arranged;
    const auto now = system_clock_source{}.now();

    const auto pass = arranged.create("a@example.com", "pass7");
    const auto renewed =
        await(arranged.store.set_plan(pass.id(), "pass7", now + std::chrono::seconds(1)));
    const auto pro = await(arranged.store.set_plan(pass.id(), "pro", std::nullopt));

    REQUIRE(pass.state.plan_ends_at);
    CHECK(*pass.state.plan_ends_at - now >= std::chrono::hours(168));
    CHECK(*pass.state.plan_ends_at - now < std::chrono::hours(168) + std::chrono::minutes(1));
    CHECK(renewed->state.plan_ends_at == now + std::chrono::seconds(1));
    CHECK_FALSE(pro->state.plan_ends_at);
}

TEST_CASE("each change is published with its state and version, in the outbox and to the publisher",
          "[accounts][postgres]")
{
    arranged_accounts arranged;
    const auto created = arranged.create("a@example.com", "pro");
    const auto changed =
        await(arranged.store.set_plan(created.id(), "premium", std::nullopt)).value();

    REQUIRE(arranged.published.size() == 2);
    CHECK(arranged.published[0].message.topic == "account.state");
    CHECK(arranged.published[0].message.key == created.id().text());
    CHECK(arranged.with_state_event(0).plan() == "pro");
    CHECK(arranged.with_state_event(1).plan() == "premium");
    CHECK(arranged.with_state_event(1).limits().routing_rules() == 20);
    CHECK(arranged.with_state_event(1).version() == changed.state.version);
    CHECK(changed.state.version == created.state.version + 1);
    const auto rows = arranged.scratch.execute(
        "SELECT count(*) FROM accounts.outbox WHERE lease_until > now() + interval '20 s'");
    CHECK(rows[0][0].as<int>() == 2);
}

TEST_CASE("without a publisher the rows wait for the next sweep with an ended lease",
          "[accounts][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    account_repository store(scratch.db(), state_publisher("tool", nullptr));

    REQUIRE(await(store.create(account_id::make(), "a@example.com", "pro")));

    CHECK(scratch.execute("SELECT count(*) FROM accounts.outbox WHERE lease_until <= now()")[0][0]
              .as<int>() == 1);
}

TEST_CASE("versions stay in the order of commits under concurrent changes", "[accounts][postgres]")
{
    arranged_accounts arranged;
    std::vector<account_id> ids;
    for (int i = 0; i < 4; ++i)
        ids.push_back(arranged.create("a" + std::to_string(i) + "@example.com", "free").id());
    arranged.published.clear();
    constexpr int changes = 200;
    int done = 0;

    for (int i = 0; i < changes; ++i) {
        const auto id = ids[static_cast<std::size_t>(i) % ids.size()];
        boost::asio::co_spawn(testing::test_host().loop(),
                              change_plan(arranged.store, id, i % 2 == 0 ? "pro" : "premium", done),
                              boost::asio::detached);
    }
    REQUIRE(testing::eventually([&] { return done == changes; }, std::chrono::seconds(30)));

    std::set<std::int64_t> versions;
    std::map<std::string, accounts::v1::AccountState> newest;
    for (std::size_t i = 0; i < arranged.published.size(); ++i) {
        const auto state = arranged.with_state_event(i);
        versions.insert(state.version());
        auto& last = newest[state.account_id()];
        if (state.version() > last.version())
            last = state;
    }
    CHECK(versions.size() == changes);
    CHECK(*versions.rbegin() - *versions.begin() == changes - 1);
    // The highest version published for an account is the state stored.
    for (const auto& id : ids) {
        const auto stored = await(arranged.store.find(id)).value().state;
        CHECK(newest[id.text()].version() == stored.version);
        CHECK(newest[id.text()].plan() == stored.plan);
    }
}

TEST_CASE("a deleted account is gone, its keys are revoked and its tombstone is published",
          "[accounts][postgres]")
{
    arranged_accounts arranged;
    key_repository keys(arranged.scratch.db());
    const auto account = arranged.create("a@example.com", "pro");
    REQUIRE(await(keys.create(account.id(), key_id::make(), "k", key_allowance::plan)));

    const auto removed = await(arranged.store.remove(account.id()));
    REQUIRE(removed);

    CHECK(await(arranged.store.find(account.id())).error().code == errc::not_found);
    CHECK(await(arranged.store.remove(account.id())).error().code == errc::not_found);
    CHECK(await(arranged.store.set_plan(account.id(), "pro", std::nullopt)).error().code ==
          errc::not_found);
    CHECK(arranged.published.back().message.is_tombstone);
    CHECK(removed->state.version > account.state.version);
    CHECK(arranged.published.back().message.headers.back() ==
          std::pair<std::string, std::string>("account_version",
                                              std::to_string(removed->state.version)));
    CHECK(arranged.scratch
              .execute("SELECT count(*) FROM accounts.api_keys WHERE revoked_at IS NULL")[0][0]
              .as<int>() == 0);
    CHECK(await(arranged.store.create(account_id::make(), "a@example.com",
                                      "free"))); // the address can be used again
}

TEST_CASE("of a deleted account nothing is left but its tombstone, the address at once and the "
          "rest after a day",
          "[accounts][postgres]")
{
    arranged_accounts arranged;
    key_repository keys(arranged.scratch.db());
    idempotency_repository requests(arranged.scratch.db());
    const auto gone = arranged.create("gone@example.com", "pro");
    const auto here = arranged.create("here@example.com", "pro");
    for (const auto& account : {gone, here}) {
        REQUIRE(await(keys.create(account.id(), key_id::make(), "k", key_allowance::plan)));
        idempotency_key request_key;
        request_key.account = account.id();
        request_key.operation_sha256 = "operation";
        request_key.key = "key";
        await(requests.claim(request_key, "request", uuid::make_v7()));
    }
    const auto rows = [&](const std::string& table) {
        return arranged.scratch.execute("SELECT account_id FROM accounts." + table);
    };

    const auto removed = await(arranged.store.remove(gone.id()));
    CHECK(removed->email == "gone@example.com");
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.accounts WHERE email LIKE '%gone%'")
              .empty());
    CHECK(await(arranged.store.purge()) == 0);
    CHECK(rows("api_keys").size() == 2);

    arranged.scratch.execute(
        "UPDATE accounts.accounts SET deleted_at = deleted_at - interval '25 hours'");
    CHECK(await(arranged.store.purge()) == 1);

    for (const std::string table : {"accounts", "api_keys", "idempotency_keys"}) {
        REQUIRE(rows(table).size() == 1);
        CHECK(rows(table)[0][0].as<std::string>() == here.id().text());
    }
    // The tombstone is published again at the end: what was published after the first must not stay
    // the topic's last record.
    CHECK(arranged.published.back().message.is_tombstone);
    const auto tombstones = arranged.scratch.execute(
        "SELECT key, substring(headers::text FROM 'account_version[^0-9]*([0-9]+)') "
        "FROM accounts.outbox WHERE payload IS NULL ORDER BY event_id");
    REQUIRE(tombstones.size() == 2);
    CHECK(tombstones[1][0].as<std::string>() == gone.id().text());
    REQUIRE_FALSE(tombstones[0][1].is_null());
    CHECK(tombstones[1][1].as<std::string>() == tombstones[0][1].as<std::string>());
    CHECK(await(arranged.store.purge()) == 0);
}

TEST_CASE("accounts are listed newest first, page by page", "[accounts][postgres]")
{
    arranged_accounts arranged;
    std::vector<account_id> made;
    for (int i = 0; i < 5; ++i)
        made.push_back(arranged.create("a" + std::to_string(i) + "@example.com", "free").id());

    const auto first = await(arranged.store.list(3, std::nullopt));
    const auto second = await(arranged.store.list(3, first.back().id()));

    REQUIRE(first.size() == 3);
    REQUIRE(second.size() == 2);
    CHECK(first[0].id() == made[4]);
    CHECK(second[1].id() == made[0]);
}
