#include "accounts/idempotency_repository.hpp"

#include "common/crypto/digest.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include <thread>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;
using outcome = idempotency_claim::outcome;

namespace {

const std::string request = crypto::sha256("body");

idempotency_key some_key(const std::string& text = "key 1", account_id account = account_id::make())
{
    idempotency_key key;
    key.account = account;
    key.operation_sha256 = crypto::sha256("POST /v1/inboxes");
    key.key = text;
    return key;
}

stored_response some_response()
{
    stored_response response;
    response.status = 201;
    response.location = "/v1/inboxes/1";
    response.content_type = "application/json";
    response.sealed_body = "sealed";
    return response;
}

struct world
{
    testing::scratch_database scratch{{"accounts"}};
    idempotency_repository store{scratch.db()};

    idempotency_claim claim(const idempotency_key& key, const std::string& digest = request)
    {
        return await(store.claim(key, digest, uuid::make_v7()));
    }
    void age(const std::string& interval)
    {
        scratch.execute(
            "UPDATE accounts.idempotency_keys SET created_at = created_at - interval '" + interval +
            "', started_at = started_at - interval '" + interval + "'");
    }
};

// Counts the claims that may proceed.
awaitable<void> count_going(idempotency_repository& store, idempotency_key key, int& going,
                            int& answered)
{
    const auto id = uuid::make_v7();
    const auto claimed = co_await store.claim(std::move(key), request, id);
    going += claimed.what == outcome::proceed ? 1 : 0;
    ++answered;
}

} // namespace

TEST_CASE("the first request goes on, its repeat is under way and then gets the answer",
          "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();

    const auto first = world.claim(key);
    const auto early = world.claim(key);
    await(world.store.store_response(key, first.object_id, some_response()));
    const auto late = world.claim(key);

    CHECK(first.what == outcome::proceed);
    CHECK(early.what == outcome::in_progress);
    REQUIRE(late.what == outcome::replay);
    CHECK(late.response.status == 201);
    CHECK(late.response.location == "/v1/inboxes/1");
    CHECK(late.response.content_type == "application/json");
    CHECK(late.response.sealed_body == "sealed");
}

TEST_CASE("another body is told apart, under way or answered", "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();
    const auto other = crypto::sha256("other body");

    const auto first = world.claim(key);
    CHECK(world.claim(key, other).what == outcome::other_request);
    await(world.store.store_response(key, first.object_id, some_response()));
    CHECK(world.claim(key, other).what == outcome::other_request);
}

TEST_CASE("a key is the account's own, for one operation", "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();
    auto elsewhere = key;
    elsewhere.operation_sha256 = crypto::sha256("POST /v1/webhooks");
    world.claim(key);

    CHECK(world.claim(elsewhere).what == outcome::proceed);
    CHECK(world.claim(some_key("key 1")).what == outcome::proceed);
    CHECK(world.claim(some_key("key 2", key.account)).what == outcome::proceed);
}

TEST_CASE("an attempt without an answer is made again with its object, at once when released, else "
          "after 30 s",
          "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();

    const auto first = world.claim(key);
    await(world.store.release(key, first.object_id));
    const auto second = world.claim(key);
    world.age("29 seconds");
    const auto early = world.claim(key);
    world.age("2 seconds");
    const auto third = world.claim(key);

    CHECK(second.what == outcome::proceed);
    CHECK(second.object_id == first.object_id);
    CHECK(early.what == outcome::in_progress);
    CHECK(third.what == outcome::proceed);
    CHECK(third.object_id == first.object_id);
}

TEST_CASE("after a day a key is new, with a new object", "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();
    const auto first = world.claim(key);
    await(world.store.store_response(key, first.object_id, some_response()));
    world.age("24 hours");

    const auto anew = world.claim(key, crypto::sha256("other body"));

    CHECK(anew.what == outcome::proceed);
    CHECK(anew.object_id != first.object_id);
    CHECK(world.claim(key, crypto::sha256("other body")).what == outcome::in_progress);
}

TEST_CASE("old keys are purged in batches, younger ones stay", "[accounts][idempotency][postgres]")
{
    world world;
    world.scratch.execute("INSERT INTO accounts.idempotency_keys (account_id, operation_sha256, "
                          "key, request_sha256, object_id, "
                          "created_at) SELECT gen_random_uuid(), '', 'old', '', gen_random_uuid(), "
                          "now() - interval '25 hours' "
                          "FROM generate_series(1, 1500)");
    world.claim(some_key());

    const int first = await(world.store.purge());
    const int second = await(world.store.purge());
    const int third = await(world.store.purge());

    CHECK(first == 1'000);
    CHECK(second == 500);
    CHECK(third == 0);
    CHECK(world.scratch.execute("SELECT count(*) FROM accounts.idempotency_keys")[0][0].as<int>() ==
          1);
}

TEST_CASE("of fifty repeats at once one goes on", "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();
    int going = 0, answered = 0;

    for (int i = 0; i < 50; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              count_going(world.store, key, going, answered),
                              boost::asio::detached);

    CHECK(testing::eventually([&] { return answered == 50; }));
    CHECK(going == 1);
}

TEST_CASE("stored responses under other master keys are counted until the last of them ends",
          "[accounts][idempotency][postgres]")
{
    world world;
    CHECK(await(world.store.count_sealed_otherwise("new")).count == 0);
    CHECK_FALSE(await(world.store.count_sealed_otherwise("new")).last_end);
    for (const auto* sealed : {"old:a", "older:b", "new:c"}) {
        const auto key = some_key(sealed);
        const auto object = world.claim(key).object_id;
        auto response = some_response();
        response.sealed_body = sealed;
        await(world.store.store_response(key, object, response));
    }
    world.claim(some_key("not answered"));

    const auto left = await(world.store.count_sealed_otherwise("new"));

    CHECK(left.count == 2);
    REQUIRE(left.last_end);
    const auto until_then = *left.last_end - system_clock_source{}.now();
    CHECK(until_then > std::chrono::hours(23));
    CHECK(until_then <= std::chrono::hours(24));
    world.age("24 hours");
    CHECK(await(world.store.count_sealed_otherwise("new")).count == 0);
}

TEST_CASE("a shorter TTL ends keys, counts and responses earlier",
          "[accounts][idempotency][postgres]")
{
    world world;
    idempotency_repository short_lived(world.scratch.db(), std::chrono::seconds(60));
    const auto key = some_key();
    const auto first = await(short_lived.claim(key, request, uuid::make_v7()));
    await(short_lived.store_response(key, first.object_id, some_response()));
    world.age("30 seconds");
    CHECK(await(short_lived.claim(key, request, uuid::make_v7())).what == outcome::replay);
    CHECK(await(short_lived.count(key.account)).count == 1);
    CHECK(await(short_lived.count_sealed_otherwise("new")).count == 1);

    world.age("30 seconds");

    CHECK(await(short_lived.count(key.account)).count == 0);
    CHECK(await(short_lived.count_sealed_otherwise("new")).count == 0);
    CHECK(await(world.store.count_sealed_otherwise("new")).count == 1);
    const auto anew = await(short_lived.claim(key, request, uuid::make_v7()));
    CHECK(anew.what == outcome::proceed);
    CHECK(anew.object_id != first.object_id);
}

TEST_CASE("an attempt in progress holds its key past a short TTL",
          "[accounts][idempotency][postgres]")
{
    world world;
    idempotency_repository short_lived(world.scratch.db(), std::chrono::seconds(5));
    const auto key = some_key();
    const auto first = await(short_lived.claim(key, request, uuid::make_v7()));
    world.age("20 seconds");

    CHECK(await(short_lived.claim(key, request, uuid::make_v7())).what == outcome::in_progress);
    CHECK(await(short_lived.purge()) == 0);

    world.age("10 seconds");
    CHECK(await(short_lived.claim(key, request, uuid::make_v7())).object_id != first.object_id);
    world.age("30 seconds");
    CHECK(await(short_lived.purge()) == 1);
}

TEST_CASE("requests that are claimed together each get what they would get alone",
          "[accounts][idempotency][postgres]")
{
    world world;
    const auto answered = some_key("answered"), open = some_key("open"), fresh = some_key("fresh");
    const auto other = crypto::sha256("other body");
    const auto first = world.claim(answered);
    await(world.store.store_response(answered, first.object_id, some_response()));
    world.claim(open);
    const auto id = uuid::make_v7();

    const auto claims = await(world.store.claim_all({{fresh, request, id},
                                                     {answered, request, uuid::make_v7()},
                                                     {open, request, uuid::make_v7()},
                                                     {open, other, uuid::make_v7()},
                                                     {fresh, request, uuid::make_v7()},
                                                     {fresh, other, uuid::make_v7()},
                                                     {some_key("over"), request, id, false}}));

    REQUIRE(claims.size() == 7);
    CHECK(claims[0]->what == outcome::proceed);
    CHECK(claims[0]->is_first);
    CHECK(claims[0]->object_id == id);
    CHECK(claims[1]->what == outcome::replay);
    CHECK(claims[1]->response.location == "/v1/inboxes/1");
    CHECK(claims[2]->what == outcome::in_progress);
    CHECK(claims[3]->what == outcome::other_request);
    CHECK(claims[4]->what == outcome::in_progress);
    CHECK(claims[5]->what == outcome::other_request);
    CHECK(claims[6]->what == outcome::limit_reached);
}

TEST_CASE("responses that are stored together are each replayed",
          "[accounts][idempotency][postgres]")
{
    world world;
    const auto one = some_key("one"), two = some_key("two");
    const auto first = world.claim(one), second = world.claim(two);
    auto other = some_response();
    other.location = "";
    other.sealed_body = "other";

    await(world.store.store_responses({{two, second.object_id, other},
                                       {one, first.object_id, some_response()},
                                       {some_key("nobody's"), uuid::make_v7(), other}}));

    CHECK(world.claim(one).response.sealed_body == "sealed");
    CHECK(world.claim(two).response.sealed_body == "other");
    CHECK(world.claim(two).response.location.empty());
}

TEST_CASE("a key that somebody holds fails alone", "[accounts][idempotency][postgres]")
{
    world world;
    const auto held = some_key("held"), free = some_key("free");
    const auto first = world.claim(held), second = world.claim(free);
    pqxx::connection other(world.scratch.dsn());
    pqxx::work holding(other);
    holding.exec("SELECT FROM accounts.idempotency_keys WHERE key = 'held' FOR UPDATE");

    const auto claims = await(world.store.claim_all(
        {{held, request, uuid::make_v7()}, {some_key("fresh"), request, uuid::make_v7()}}));
    const auto stored = await(world.store.store_responses(
        {{held, first.object_id, some_response()}, {free, second.object_id, some_response()}}));

    CHECK(claims[0].error().code == errc::unavailable);
    REQUIRE(claims[1]);
    CHECK(claims[1]->what == outcome::proceed);
    CHECK(stored[0].error().code == errc::unavailable);
    CHECK(stored[1]);
    CHECK(world.claim(free).what == outcome::replay);
}

TEST_CASE("repeats of an account without room for new keys are claimed in one order",
          "[accounts][idempotency][postgres]")
{
    world world;
    const auto account = account_id::make();
    const auto one = some_key("1", account), two = some_key("2", account);
    for (const auto& key : {one, two})
        await(world.store.release(key, world.claim(key).object_id));
    pqxx::connection other(world.scratch.dsn());
    pqxx::work holding(other);
    holding.exec("SELECT FROM accounts.idempotency_keys WHERE key = '1' FOR UPDATE");
    bool is_second_free = false;
    pqxx::connection looking(world.scratch.dsn());
    std::thread watching([&] {
        const auto waiting = [&] {
            return pqxx::nontransaction(looking)
                .exec1("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                       "datname = current_database()")[0]
                .as<int>();
        };
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (waiting() == 0 && std::chrono::steady_clock::now() < give_up)
            continue;
        // Whoever waits for the first key does not hold the second.
        is_second_free = pqxx::work(looking)
                             .exec("SELECT FROM accounts.idempotency_keys WHERE key = '2' FOR "
                                   "UPDATE SKIP LOCKED")
                             .size() == 1;
        holding.abort();
    });

    const auto claims = await(world.store.claim_all(
        {{two, request, uuid::make_v7(), false}, {one, request, uuid::make_v7(), false}}));
    watching.join();

    CHECK(is_second_free);
    CHECK(claims[0]->what == outcome::proceed);
    CHECK(claims[1]->what == outcome::proceed);
}
