#include "gateway/access/key_cache.hpp"

#include "accounts/account_repository.hpp"
#include "accounts/api_key.hpp"
#include "common/postgres/dsn.hpp"
#include "common/testing/await.hpp"
#include "common/testing/database_relay.hpp"
#include "common/testing/scratch_database.hpp"
#include "gateway/access/key_uses.hpp"

#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using namespace std::chrono_literals;
using testing::await;
using steady = std::chrono::steady_clock;

namespace {

// A running cache over a database that can be taken away, with an account, a key, and a way to
// change both beside the cache.
class arranged_cache
{
public:
    arranged_cache()
    {
        owner = await(accounts.create(account_id::make(), "a@example.com", "premium")).value().id();
        const auto made =
            await(keys_beside.create(owner, key_id::make(), "k", key_allowance::plan)).value();
        key = made.record.id;
        digest = api_key_digest(made.key.reveal());
        cache.start();
    }

    ~arranged_cache() { await(cache.stop()); }

    gateway::key_cache::owner find()
    {
        return await(cache.find(digest, gateway::lookups::all)).value().owner;
    }
    // What is looked up before the first read of changes is not kept.
    bool becomes_known()
    {
        return testing::eventually([&] {
            const auto before = lookups();
            return find() && lookups() == before;
        });
    }
    std::int64_t lookups() { return static_cast<std::int64_t>(lookups_counter.Value()); }

    // How long after now the last query was made whose answer was not the new one. An answer may
    // take its time, and there may be none while PostgreSQL takes its.
    template <class Condition>
    steady::duration last_old_answer(Condition is_new)
    {
        const auto began = steady::now();
        auto last = steady::duration::zero();
        REQUIRE(testing::eventually([&] {
            const auto elapsed = steady::now() - began;
            try {
                if (is_new(find()))
                    return true;
                last = elapsed;
            } catch (const dependency_error&) {
                // Not an old answer.
            }
            return false;
        }));
        return last;
    }

    testing::scratch_database scratch{{"accounts"}};
    account_repository accounts{scratch.db(), state_publisher("test", nullptr)};
    key_repository keys_beside{scratch.db()};
    account_id owner;
    key_id key;
    std::string digest;
    prometheus::Counter& lookups_counter{testing::test_host().metrics().counter(
        "tempinbox_gateway_key_lookups_total", "API keys looked up in PostgreSQL")};
    key_repository keys{scratch.db()};
    gateway::lookup_limiter strangers{testing::test_host(), 1, 2, 5s};
    gateway::key_cache cache{testing::test_host(), keys, keys, strangers};
};

enum class said { yes, no, unknown };

// A running cache whose connections to PostgreSQL pass a relay, and a key it should know.
class cache_behind_relay
{
public:
    cache_behind_relay()
    {
        account_repository accounts(scratch.db(), state_publisher("test", nullptr));
        key_repository keys_beside(scratch.db());
        const auto owner =
            await(accounts.create(account_id::make(), "a@example.com", "premium")).value().id();
        const auto made =
            await(keys_beside.create(owner, key_id::make(), "k", key_allowance::plan)).value();
        digest_ = api_key_digest(made.key.reveal());
        cache_.start();
    }

    ~cache_behind_relay()
    {
        await(cache_.stop());
        db_.stop();
        testing::eventually([] { return testing::test_host().loop().poll() == 0; }, 1s);
    }

    said query()
    {
        try {
            return await(cache_.find(digest_, gateway::lookups::all)).value().owner ? said::yes
                                                                                    : said::no;
        } catch (const dependency_error&) {
            return said::unknown;
        }
    }

    testing::scratch_database scratch{{"accounts"}};
    testing::relay relay{testing::server_of(scratch)};

private:
    postgres::settings settings_through_relay()
    {
        postgres::settings chosen;
        chosen.dsn = testing::dsn_through(relay, scratch);
        chosen.connections = 4;
        return chosen;
    }

    postgres::pool db_{testing::test_host(), settings_through_relay()};
    key_repository keys_{db_};
    gateway::lookup_limiter strangers_{testing::test_host(), 2};
    gateway::key_cache cache_{testing::test_host(), keys_, keys_, strangers_};
    std::string digest_;
};

} // namespace

TEST_CASE("a known key is answered from memory", "[gateway][postgres]")
{
    arranged_cache arranged;
    REQUIRE(testing::eventually([&] {
        arranged.find();
        const auto before = arranged.lookups();
        arranged.find();
        return arranged.lookups() == before;
    }));

    const auto before = arranged.lookups();
    for (int i = 0; i < 100; ++i) {
        const auto found = arranged.find();
        REQUIRE(found);
        CHECK(found->account.account == arranged.owner);
    }
    CHECK(arranged.lookups() - before <= 1);
}

TEST_CASE("an unknown key is answered from memory until something changes", "[gateway][postgres]")
{
    arranged_cache arranged;
    const auto unknown = api_key_digest(make_api_key().reveal());
    REQUIRE(testing::eventually([&] {
        CHECK_FALSE(await(arranged.cache.find(unknown, gateway::lookups::all)).value().owner);
        const auto before = arranged.lookups();
        await(arranged.cache.find(unknown, gateway::lookups::all)).value();
        return arranged.lookups() == before;
    }));
}

TEST_CASE("the version up to which changes were read is a metric", "[gateway][postgres]")
{
    arranged_cache arranged;
    auto& version_gauge =
        testing::test_host().metrics().gauge("tempinbox_gateway_key_change_version",
                                             "Version up to which accounts.changes has been read");
    REQUIRE(await(arranged.accounts.set_plan(arranged.owner, "free", std::nullopt)));
    const auto version =
        arranged.scratch.execute("SELECT version FROM accounts.changes")[0][0].as<double>();

    CHECK(testing::eventually([&] { return version_gauge.Value() == version; }, 5s));
}

TEST_CASE("a revoked key is refused within 1 s", "[gateway][postgres]")
{
    arranged_cache arranged;
    REQUIRE(arranged.find());
    REQUIRE(await(arranged.keys_beside.revoke(arranged.owner, arranged.key)));

    const auto last = arranged.last_old_answer([](const auto& found) { return found == nullptr; });

    CHECK(last < 1s);
}

TEST_CASE("a plan change is seen within 1 s", "[gateway][postgres]")
{
    arranged_cache arranged;
    REQUIRE(arranged.find()->account.plan == "premium");
    REQUIRE(await(arranged.accounts.set_plan(arranged.owner, "free", std::nullopt)));

    const auto last =
        arranged.last_old_answer([](const auto& found) { return found->account.plan == "free"; });

    CHECK(last < 1s);
}

TEST_CASE("a key's position follows the revocation of an older one within 1 s",
          "[gateway][postgres]")
{
    arranged_cache arranged;
    const auto second = await(arranged.keys_beside.create(arranged.owner, key_id::make(), "second",
                                                          key_allowance::plan))
                            .value();
    const auto first = arranged.key;
    arranged.digest = api_key_digest(second.key.reveal());
    REQUIRE(arranged.last_old_answer(
                [](const auto& found) { return found && found->position == 2; }) < 1s);
    REQUIRE(await(arranged.keys_beside.revoke(arranged.owner, first)));

    CHECK(arranged.last_old_answer([](const auto& found) { return found->position == 1; }) < 1s);
}

TEST_CASE("a key's position follows the expiry of an older one", "[gateway][postgres][key-access]")
{
    arranged_cache arranged;
    const auto second = await(arranged.keys_beside.create(arranged.owner, key_id::make(), "second",
                                                          key_allowance::plan))
                            .value();
    // Without a new version, as time passes without one.
    const auto ends_in = [&](const std::string& seconds) {
        arranged.scratch.execute("UPDATE accounts.api_keys SET expires_at = clock_timestamp() + "
                                 "interval '" +
                                 seconds + "' WHERE key_id = '" + arranged.key.text() + "'");
    };
    ends_in("5 seconds");
    arranged.digest = api_key_digest(second.key.reveal());
    REQUIRE(arranged.becomes_known());
    REQUIRE(arranged.find()->position == 2);

    CHECK(arranged.last_old_answer([](const auto& found) { return found->position == 1; }) < 6s);
}

TEST_CASE("with PostgreSQL away an old yes is given no longer than 900 ms, then nobody knows",
          "[gateway][postgres]")
{
    const auto way = GENERATE(as<std::string>(), "killed", "frozen");
    cache_behind_relay arranged;
    REQUIRE(testing::eventually([&] { return arranged.query() == said::yes; }));

    if (way == "killed")
        arranged.relay.cut();
    else
        arranged.relay.freeze();
    const auto began = steady::now();
    auto last_yes = steady::duration::zero();
    const bool was_refused = testing::eventually([&] {
        const auto elapsed = steady::now() - began;
        const auto outcome = arranged.query();
        if (outcome == said::yes)
            last_yes = elapsed;
        return outcome == said::unknown;
    });

    CHECK(was_refused);
    CHECK(last_yes < 950ms);
    arranged.relay.restore();
    CHECK(testing::eventually([&] { return arranged.query() == said::yes; }, 20s));
}

TEST_CASE("what was looked up at the same time costs one statement", "[gateway][postgres]")
{
    arranged_cache arranged;
    key_repository keys(arranged.scratch.db());
    // Never started: nothing is fresh.
    gateway::key_cache idle(testing::test_host(), keys, keys, arranged.strangers);
    const auto before = arranged.lookups();
    int found = 0;
    for (int i = 0; i < 50; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              idle.find(arranged.digest, gateway::lookups::all),
                              [&](const std::exception_ptr&, result<gateway::key_result> lookup) {
                                  found += lookup && lookup->owner ? 1 : 0;
                              });
    REQUIRE(testing::eventually([&] { return found == 50; }));

    CHECK(arranged.lookups() - before <= 2);
}

TEST_CASE("while the pool is busy known keys are answered from memory all the same",
          "[gateway][postgres]")
{
    testing::scratch_database scratch{{"accounts"}};
    account_repository accounts(scratch.db(), state_publisher("test", nullptr));
    key_repository keys_beside(scratch.db());
    const auto owner =
        await(accounts.create(account_id::make(), "a@example.com", "premium")).value().id();
    const auto digest = api_key_digest(
        await(keys_beside.create(owner, key_id::make(), "k", key_allowance::plan))->key.reveal());
    postgres::settings one_connection;
    one_connection.dsn = scratch.dsn();
    one_connection.connections = 1;
    postgres::pool busy(testing::test_host(), one_connection),
        quiet(testing::test_host(), one_connection);
    key_repository keys(busy), changes(quiet);
    gateway::lookup_limiter strangers(testing::test_host(), 1);
    gateway::key_cache cache(testing::test_host(), keys, changes, strangers);
    cache.start();
    auto& lookups = testing::test_host().metrics().counter("tempinbox_gateway_key_lookups_total",
                                                           "API keys looked up in PostgreSQL");
    const auto is_from_memory = [&] {
        const auto before = lookups.Value();
        const auto found = await(cache.find(digest, gateway::lookups::all));
        return found && found->owner && !found->was_looked_up && lookups.Value() == before;
    };
    REQUIRE(testing::eventually(is_from_memory));

    bool is_over = false;
    std::function<void(pqxx::connection&)> hold = [](pqxx::connection& db) {
        pqxx::nontransaction(db).exec("SELECT pg_sleep(3)");
    };
    boost::asio::co_spawn(testing::test_host().loop(), busy.run(std::move(hold)),
                          [&](const std::exception_ptr&) { is_over = true; });
    int lookups_made = 0;
    int from_memory = 0;
    while (!is_over) {
        ++lookups_made;
        try {
            from_memory += is_from_memory() ? 1 : 0;
        } catch (const dependency_error&) {
            // Looked up over the busy pool, in vain.
        }
        testing::eventually([&] { return is_over; }, 20ms);
    }

    CHECK(lookups_made > 0);
    CHECK(from_memory == lookups_made);
    await(cache.stop());
    busy.stop();
    quiet.stop();
}

TEST_CASE("strangers' keys are looked up one at a time, and refused when too many wait",
          "[gateway][postgres]")
{
    arranged_cache arranged;
    REQUIRE(arranged.becomes_known());
    auto taken = await(arranged.strangers.enter()); // as by a slow lookup
    const auto before = arranged.lookups();
    int refused = 0;
    int unknown = 0;
    for (int i = 0; i < 10; ++i)
        boost::asio::co_spawn(
            testing::test_host().loop(),
            arranged.cache.find(api_key_digest(make_api_key().reveal()), gateway::lookups::all),
            [&](const std::exception_ptr&, result<gateway::key_result> lookup) {
                refused += !lookup && lookup.error().code == errc::unavailable ? 1 : 0;
                unknown += lookup && !lookup->owner ? 1 : 0;
            });

    CHECK(testing::eventually([&] { return refused == 8; }));
    CHECK(unknown == 0);
    CHECK(arranged.lookups() == before);
    CHECK(arranged.find());
    taken.reset();
    CHECK(testing::eventually([&] { return unknown == 2; }));
}

TEST_CASE("for an address past its allowance only keys that were seen good are looked up",
          "[gateway][postgres]")
{
    arranged_cache arranged;
    const auto query = [&](const std::string& digest) {
        return await(arranged.cache.find(digest, gateway::lookups::seen_good));
    };
    const auto unseen = query(arranged.digest);
    REQUIRE(testing::eventually([&] {
        return arranged.find() &&
               !await(arranged.cache.find(arranged.digest, gateway::lookups::all))->was_looked_up;
    }));
    const auto before = arranged.lookups();

    const auto stranger = query(api_key_digest(make_api_key().reveal()));
    CHECK(arranged.lookups() == before);
    REQUIRE(await(arranged.accounts.set_plan(arranged.owner, "business", std::nullopt)));
    const auto changed = testing::eventually(
        [&] {
            const auto found = query(arranged.digest);
            return found && found->owner && found->owner->account.plan == "business";
        },
        5s);

    REQUIRE_FALSE(unseen);
    CHECK(unseen.error().code == errc::rate_limited);
    REQUIRE_FALSE(stranger);
    CHECK(stranger.error().code == errc::rate_limited);
    CHECK(changed);
}

TEST_CASE("the last use of a key is written, once a minute at most", "[gateway][postgres]")
{
    arranged_cache arranged;
    gateway::key_uses uses(testing::test_host(), arranged.keys_beside);
    const auto now = testing::test_host().clock().now();
    uses.note(*arranged.find(), now);

    await(uses.flush());
    CHECK(await(arranged.keys_beside.list(arranged.owner))->front().last_used_at == now);

    uses.note(*arranged.find(), now + 5s);
    await(uses.flush());
    CHECK(await(arranged.keys_beside.list(arranged.owner))->front().last_used_at == now);

    await(uses.stop());
    CHECK(await(arranged.keys_beside.list(arranged.owner))->front().last_used_at == now + 5s);
}
