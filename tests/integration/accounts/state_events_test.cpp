#include "accounts/state_events.hpp"

#include "accounts/account_repository.hpp"
#include "common/events/events.hpp"
#include "common/kafka/topics.hpp"
#include "common/outbox/outbox_repository.hpp"
#include "integration/common/kafka/collected.hpp"
#include "integration/common/kafka/sent.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using namespace std::chrono_literals;
using testing::await;

namespace {

// A Kafka whose topic account.state is the test's own.
kafka::settings own_cluster()
{
    auto cluster = testing::test_cluster();
    cluster.prefix = "accounts-" + uuid::make_v7().text() + ".";
    kafka::apply_topics(cluster, {{events::topics::account_state, 1, 1, {}}}, 30s).value();
    return cluster;
}

// A gateway as far as it changes accounts.
struct process
{
    process(postgres::pool& db, const kafka::settings& cluster)
        : producer(testing::test_host(), cluster),
          publisher(testing::test_host(), db, producer, "accounts",
                    remover_of_published(testing::test_host().instance())),
          accounts(db, state_publisher(testing::test_host().instance(),
                                       [this](std::vector<outbox::row> rows) {
                                           publisher.publish(std::move(rows));
                                       }))
    {
        publisher.start();
    }

    std::int64_t set_plan(account_id id, const std::string& plan)
    {
        return await(accounts.set_plan(id, plan, std::nullopt)).value().state.version;
    }

    kafka::producer producer;
    outbox::publisher publisher;
    account_repository accounts;
};

std::vector<std::int64_t> versions_in(const testing::collected& topic)
{
    std::vector<std::int64_t> versions;
    for (const auto& record : topic.records())
        versions.push_back(events::read_account_state(record).value().version);
    return versions;
}

int rows_left(testing::scratch_database& scratch)
{
    return scratch.execute("SELECT count(*) FROM accounts.outbox")[0][0].as<int>();
}

} // namespace

TEST_CASE("the newest state of an account is the last, though an older one was held up on its way",
          "[accounts][outbox][kafka][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    const auto cluster = own_cluster();
    auto stalling = cluster;
    stalling.properties["linger.ms"] = "20000";
    stalling.properties["delivery.timeout.ms"] = "60000";
    process slow(scratch.db(), stalling), quick(scratch.db(), cluster);
    testing::collected topic(cluster, {events::topics::account_state});
    const auto made = await(quick.accounts.create(account_id::make(), "a@example.com", "pro"));
    const auto account = made.value().id();
    REQUIRE(topic.has(1));
    REQUIRE(testing::eventually([&] { return rows_left(scratch) == 0; }));

    const auto older = slow.set_plan(account, "business");
    const auto newer = quick.set_plan(account, "premium");

    REQUIRE(topic.has(3, 60s));
    REQUIRE(versions_in(topic)[1] == newer);
    REQUIRE(versions_in(topic)[2] == older);
    REQUIRE(testing::eventually([&] { return rows_left(scratch) == 0; }, 60s));
    REQUIRE(topic.has(4));
    CHECK(versions_in(topic)[3] == newer);
    CHECK(topic.records().size() == 4);
}

TEST_CASE("the state of an account that was deleted meanwhile is followed by its tombstone",
          "[accounts][outbox][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    std::vector<outbox::row> written;
    account_repository accounts(scratch.db(),
                                state_publisher("test", [&](std::vector<outbox::row> rows) {
                                    written.insert(written.end(), rows.begin(), rows.end());
                                }));
    outbox::outbox_repository outbox(scratch.db(), "accounts", remover_of_published("test"));
    const auto made = await(accounts.create(account_id::make(), "a@example.com", "pro")).value();
    await(accounts.remove(made.id())).value();
    REQUIRE(written.size() == 2);
    // Another process published the deletion first.
    CHECK(await(outbox.remove({written[1].id}, "test")).empty());

    const auto again = await(outbox.remove({written[0].id}, "test"));

    REQUIRE(again.size() == 1);
    CHECK(again[0].message.is_tombstone);
    CHECK(again[0].message.key == made.id().text());
    CHECK(again[0].sequence == written[1].sequence);
    CHECK(await(outbox.remove({again[0].id}, "test")).empty());
    CHECK(rows_left(scratch) == 0);
}

TEST_CASE("a state that another process has claimed is left to that one",
          "[accounts][outbox][postgres]")
{
    testing::scratch_database scratch({"accounts"});
    std::vector<outbox::row> written;
    account_repository accounts(scratch.db(),
                                state_publisher("test", [&](std::vector<outbox::row> rows) {
                                    written.insert(written.end(), rows.begin(), rows.end());
                                }));
    outbox::outbox_repository outbox(scratch.db(), "accounts", remover_of_published("test"));
    await(accounts.create(account_id::make(), "a@example.com", "pro")).value();
    scratch.execute("UPDATE accounts.outbox SET owner = 'other'");

    CHECK(await(outbox.remove({written.front().id}, "test")).empty());

    CHECK(rows_left(scratch) == 1);
}
