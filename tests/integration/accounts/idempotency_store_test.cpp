#include "accounts/idempotency_store.hpp"

#include "common/crypto/digest.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;
using verdict = idempotency_claim::verdict;

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

kept_answer some_answer()
{
    kept_answer answer;
    answer.status = 201;
    answer.location = "/v1/inboxes/1";
    answer.content_type = "application/json";
    answer.sealed_body = "sealed";
    return answer;
}

struct world
{
    testing::scratch_database scratch{{"accounts"}};
    idempotency_store store{scratch.db()};

    idempotency_claim claim(const idempotency_key& key, const std::string& asked = request)
    {
        return await(store.claim(key, asked, uuid::make_v7()));
    }
    void age(const std::string& interval)
    {
        scratch.execute("UPDATE accounts.idempotency_key SET created_at = created_at - interval '" +
                        interval + "', started_at = started_at - interval '" + interval + "'");
    }
};

// Counts the claims that may go on.
awaitable<void> count_going(idempotency_store& store, idempotency_key key, int& going,
                            int& answered)
{
    const auto id = uuid::make_v7();
    const auto claimed = co_await store.claim(std::move(key), request, id);
    going += claimed.what == verdict::go ? 1 : 0;
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
    await(world.store.keep(key, first.object_id, some_answer()));
    const auto late = world.claim(key);

    CHECK(first.what == verdict::go);
    CHECK(early.what == verdict::under_way);
    REQUIRE(late.what == verdict::replay);
    CHECK(late.answer.status == 201);
    CHECK(late.answer.location == "/v1/inboxes/1");
    CHECK(late.answer.content_type == "application/json");
    CHECK(late.answer.sealed_body == "sealed");
}

TEST_CASE("another body is told apart, under way or answered", "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();
    const auto other = crypto::sha256("other body");

    const auto first = world.claim(key);
    CHECK(world.claim(key, other).what == verdict::other_request);
    await(world.store.keep(key, first.object_id, some_answer()));
    CHECK(world.claim(key, other).what == verdict::other_request);
}

TEST_CASE("a key is the account's own, for one operation", "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();
    auto elsewhere = key;
    elsewhere.operation_sha256 = crypto::sha256("POST /v1/webhooks");
    world.claim(key);

    CHECK(world.claim(elsewhere).what == verdict::go);
    CHECK(world.claim(some_key("key 1")).what == verdict::go);
    CHECK(world.claim(some_key("key 2", key.account)).what == verdict::go);
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

    CHECK(second.what == verdict::go);
    CHECK(second.object_id == first.object_id);
    CHECK(early.what == verdict::under_way);
    CHECK(third.what == verdict::go);
    CHECK(third.object_id == first.object_id);
}

TEST_CASE("after a day a key is new, with a new object", "[accounts][idempotency][postgres]")
{
    world world;
    const auto key = some_key();
    const auto first = world.claim(key);
    await(world.store.keep(key, first.object_id, some_answer()));
    world.age("24 hours");

    const auto anew = world.claim(key, crypto::sha256("other body"));

    CHECK(anew.what == verdict::go);
    CHECK(anew.object_id != first.object_id);
    CHECK(world.claim(key, crypto::sha256("other body")).what == verdict::under_way);
}

TEST_CASE("old keys are forgotten in batches, younger ones stay",
          "[accounts][idempotency][postgres]")
{
    world world;
    world.scratch.execute("INSERT INTO accounts.idempotency_key (account_id, operation_sha256, "
                          "key, request_sha256, object_id, "
                          "created_at) SELECT gen_random_uuid(), '', 'old', '', gen_random_uuid(), "
                          "now() - interval '25 hours' "
                          "FROM generate_series(1, 1500)");
    world.claim(some_key());

    const int first = await(world.store.forget());
    const int second = await(world.store.forget());
    const int third = await(world.store.forget());

    CHECK(first == 1'000);
    CHECK(second == 500);
    CHECK(third == 0);
    CHECK(world.scratch.execute("SELECT count(*) FROM accounts.idempotency_key")[0][0].as<int>() ==
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

TEST_CASE("kept answers under other master keys are counted until the last of them ends",
          "[accounts][idempotency][postgres]")
{
    world world;
    CHECK(await(world.store.count_sealed_otherwise("new")).answers == 0);
    CHECK_FALSE(await(world.store.count_sealed_otherwise("new")).last_end);
    for (const auto* sealed : {"old:a", "older:b", "new:c"}) {
        const auto key = some_key(sealed);
        const auto object = world.claim(key).object_id;
        auto answer = some_answer();
        answer.sealed_body = sealed;
        await(world.store.keep(key, object, answer));
    }
    world.claim(some_key("not answered"));

    const auto left = await(world.store.count_sealed_otherwise("new"));

    CHECK(left.answers == 2);
    REQUIRE(left.last_end);
    const auto until_then = *left.last_end - system_clock_source{}.now();
    CHECK(until_then > std::chrono::hours(23));
    CHECK(until_then <= std::chrono::hours(24));
    world.age("24 hours");
    CHECK(await(world.store.count_sealed_otherwise("new")).answers == 0);
}
