#include "common/outbox/outbox.hpp"

#include "integration/common/kafka/collected.hpp"
#include "integration/common/kafka/sent.hpp"
#include "integration/common/postgres/held_lock.hpp"

#include <boost/asio/co_spawn.hpp>
#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <set>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

const std::string schema = "mailbox";

outbox::row make_row(const std::string& topic, std::string key, std::int64_t sequence,
                     std::string value)
{
    outbox::row made;
    made.id = event_id::make();
    made.sequence = sequence;
    made.message.topic = topic;
    made.message.key = std::move(key);
    made.message.value = std::move(value);
    made.message.headers = {{"ce_id", made.id.text()}};
    return made;
}

// A process that commits rows and publishes them.
struct process
{
    kafka::producer producer;
    outbox::publisher publisher;

    explicit process(postgres::pool& db, const kafka::settings& cluster = testing::test_cluster(),
                     std::chrono::milliseconds sweep_interval = 1s)
        : producer(testing::test_host(), cluster),
          publisher(testing::test_host(), db, producer, schema, {}, sweep_interval)
    {}
};

awaitable<void> commit(postgres::pool& db, const std::string& owner,
                       const std::vector<outbox::row>& rows)
{
    return db.transact([owner, rows](pqxx::work& tx) { outbox::insert(tx, schema, owner, rows); });
}

// Leaves rows as a process that died does: committed, with an expired lease.
void leave_behind(testing::scratch_database& scratch, const std::vector<outbox::row>& rows)
{
    testing::await(commit(scratch.db(), "dead", rows));
    scratch.execute(
        "UPDATE mailbox.outbox SET lease_until = now() - interval '1 s' WHERE owner = 'dead'");
}

int rows_left(testing::scratch_database& scratch, const std::string& condition = "true")
{
    return scratch.execute("SELECT count(*) FROM mailbox.outbox WHERE " + condition)[0][0]
        .as<int>();
}

const std::string lock_outbox = "LOCK TABLE mailbox.outbox IN ACCESS EXCLUSIVE MODE";

bool is_waiting_for_outbox(testing::scratch_database& scratch)
{
    return !scratch
                .execute("SELECT FROM pg_locks WHERE NOT granted AND relation = "
                         "'mailbox.outbox'::regclass")
                .empty();
}

bool shows(const std::string& metric)
{
    return testing::test_host().metrics().text().find(metric) != std::string::npos;
}

// Counts the publishes of all publishers of the test's process.
int publishes()
{
    const std::string name = "tempinbox_outbox_publishes_total{schema=\"mailbox\"} ";
    const auto text = testing::test_host().metrics().text();
    const auto found = text.find(name);
    return found == std::string::npos ? 0 : std::stoi(text.substr(found + name.size()));
}

kafka::settings nowhere()
{
    kafka::settings cluster;
    cluster.brokers = "127.0.0.1:1";
    cluster.properties = {{"delivery.timeout.ms", "700"}};
    return cluster;
}

} // namespace

TEST_CASE("what was committed is published at once and deleted once acknowledged", "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("outbox");
    process here(scratch.db());
    here.publisher.start();
    const std::vector rows{make_row(topic, "a", 1, "one"), make_row(topic, "b", 1, "two")};

    testing::await(commit(scratch.db(), testing::test_host().instance(), rows));
    here.publisher.publish(rows);

    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(2));
    CHECK(testing::eventually([&] { return rows_left(scratch) == 0; }));
    CHECK(found.records().size() == 2);
}

TEST_CASE("what is committed in quick succession is batched, and all of it published in order",
          "[outbox]")
{
    constexpr int commits = 1'000;
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("outbox");
    process here(scratch.db());
    here.publisher.start();
    std::vector<outbox::row> rows;
    for (int i = 0; i < commits; ++i)
        rows.push_back(make_row(topic, "a", i, std::to_string(i)));
    testing::await(commit(scratch.db(), testing::test_host().instance(), rows));
    const auto before = publishes();

    for (const auto& one : rows)
        here.publisher.publish({one});

    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(commits));
    for (std::size_t i = 0; i < commits; ++i)
        CHECK(found.records()[i].value == std::to_string(i));
    CHECK(publishes() - before < commits / 2);
}

TEST_CASE("a hint goes out with the events of its step and is stored nowhere", "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("outbox"), hints = testing::scratch_topic("hints");
    process here(scratch.db());
    here.publisher.start();
    const std::vector rows{make_row(topic, "a", 1, "one")};
    kafka::message hint;
    hint.topic = hints;
    hint.key = "a";
    hint.value = "one came";

    testing::await(commit(scratch.db(), testing::test_host().instance(), rows));
    CHECK(rows_left(scratch) == 1);
    here.publisher.publish(rows, {hint});

    testing::collected found(testing::test_cluster(), {hints});
    REQUIRE(found.has(1));
    CHECK(found.records()[0].key == "a");
    CHECK(found.records()[0].value == "one came");
    CHECK(testing::eventually([&] { return rows_left(scratch) == 0; }));
}

TEST_CASE("rows of a process that died are published in order of their keys, whole, and deleted",
          "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("swept", 2);
    std::vector<outbox::row> rows;
    std::string binary;
    for (int c = 0; c < 256; ++c)
        binary += static_cast<char>(c);
    for (int i = 60; i > 0; --i)
        rows.push_back(make_row(topic, "key " + std::to_string(i % 3), i, binary));
    rows.push_back(make_row(topic, "gone", 1, ""));
    rows.back().message.is_tombstone = true;
    leave_behind(scratch, rows);

    process next(scratch.db());
    next.publisher.start();

    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(61));
    CHECK(testing::eventually([&] { return rows_left(scratch) == 0; }));
    std::map<std::string, std::int64_t> last;
    std::map<std::string, std::int64_t> sequence_of;
    for (const auto& row : rows)
        sequence_of[row.id.text()] = row.sequence;
    for (const auto& record : found.records()) {
        const auto sequence = sequence_of.at(std::string(*record.header("ce_id")));
        CHECK(sequence > last[record.key]);
        last[record.key] = sequence;
        CHECK(record.is_tombstone == (record.key == "gone"));
        CHECK((record.is_tombstone || record.value == binary));
    }
}

TEST_CASE("a row under another's lease is left alone", "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("leased");
    testing::await(commit(scratch.db(), "another", {make_row(topic, "a", 1, "under lease")}));
    leave_behind(scratch, {make_row(topic, "a", 2, "left behind")});

    process here(scratch.db());
    here.publisher.start();

    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has(1));
    CHECK(testing::eventually([&] { return rows_left(scratch) == 1; }));
    CHECK(found.records()[0].value == "left behind");
    const auto left = scratch.execute(
        "SELECT owner, lease_until > now() + interval '15 s' FROM mailbox.outbox")[0];
    CHECK(left[0].as<std::string>() == "another");
    CHECK(left[1].as<bool>());
}

TEST_CASE("what the broker did not acknowledge stays, and a sweep publishes it later", "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("away");
    const std::vector rows{make_row(topic, "a", 1, "one")};
    testing::await(commit(scratch.db(), testing::test_host().instance(), rows));
    {
        process without_broker(scratch.db(), nowhere());
        without_broker.publisher.start();
        without_broker.publisher.publish(rows);
        testing::await(without_broker.publisher.drain(5s));
    }
    REQUIRE(rows_left(scratch) == 1);

    scratch.execute("UPDATE mailbox.outbox SET lease_until = now() - interval '1 s'");
    process with_broker(scratch.db());
    with_broker.publisher.start();

    testing::collected found(testing::test_cluster(), {topic});
    CHECK(found.has(1));
    CHECK(testing::eventually([&] { return rows_left(scratch) == 0; }));
}

TEST_CASE("sweepers of several processes share the work without repeats", "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("shared");
    std::vector<outbox::row> rows;
    for (int i = 0; i < 3'000; ++i)
        rows.push_back(make_row(topic, std::to_string(i), 1, "x"));
    leave_behind(scratch, rows);

    process first(scratch.db()), second(scratch.db()), third(scratch.db());
    first.publisher.start();
    second.publisher.start();
    third.publisher.start();

    REQUIRE(testing::eventually([&] { return rows_left(scratch) == 0; }, 20s));
    testing::collected found(testing::test_cluster(), {topic});
    REQUIRE(found.has_all());
    CHECK(found.records().size() == 3'000);
}

TEST_CASE("the next sweep is an interval after one that left nothing", "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("interval");
    process seldom(scratch.db(), testing::test_cluster(), 1h);
    leave_behind(scratch, {make_row(topic, "a", 1, "x")});
    seldom.publisher.start();
    REQUIRE(testing::eventually([&] { return rows_left(scratch) == 0; }));

    leave_behind(scratch, {make_row(topic, "b", 1, "x")});
    CHECK_FALSE(testing::eventually([&] { return rows_left(scratch) == 0; }, 1500ms));
    process often(scratch.db(), testing::test_cluster(), 10ms);
    often.publisher.start();

    CHECK(testing::eventually([&] { return rows_left(scratch) == 0; }));
    leave_behind(scratch, {make_row(topic, "c", 1, "x")});
    CHECK(testing::eventually([&] { return rows_left(scratch) == 0; }));
}

TEST_CASE("drain publishes what is queued and deletes what was acknowledged", "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto topic = testing::scratch_topic("drained");
    process here(scratch.db());
    here.publisher.start();
    std::vector<outbox::row> rows;
    for (int i = 0; i < 500; ++i)
        rows.push_back(make_row(topic, std::to_string(i), 1, "x"));
    testing::await(commit(scratch.db(), testing::test_host().instance(), rows));
    for (const auto& one : rows) // the last ones still wait for their batch when the drain begins
        here.publisher.publish({one});

    testing::await(here.publisher.drain(10s));

    CHECK(rows_left(scratch) == 0);
}

TEST_CASE("a publisher that ends while it measures claims nothing any more", "[outbox]")
{
    testing::scratch_database scratch({schema});
    leave_behind(scratch, {make_row("t", "a", 1, "x"), make_row("t", "b", 1, "x"),
                           make_row("t", "c", 1, "x")});
    auto here = std::make_unique<process>(scratch.db(), nowhere());
    std::optional<testing::held_lock> lock(std::in_place, scratch.dsn(), lock_outbox);
    here->publisher.start();
    CHECK(testing::eventually([&] { return is_waiting_for_outbox(scratch); }));

    here.reset();
    lock.reset();

    CHECK(testing::eventually(
        [] { return shows("tempinbox_outbox_pending_events{schema=\"mailbox\"} 3"); }));
    CHECK_FALSE(
        testing::eventually([&] { return rows_left(scratch, "owner <> 'dead'") > 0; }, 300ms));
}

TEST_CASE("drain waits for what the sweeper does", "[outbox]")
{
    testing::scratch_database scratch({schema});
    process here(scratch.db(), nowhere());
    std::optional<testing::held_lock> lock(std::in_place, scratch.dsn(), lock_outbox);
    here.publisher.start();
    CHECK(testing::eventually([&] { return is_waiting_for_outbox(scratch); }));

    const auto is_drained = std::make_shared<bool>(false);
    boost::asio::co_spawn(testing::test_host().loop(), here.publisher.drain(10s),
                          [is_drained](const std::exception_ptr&) { *is_drained = true; });

    CHECK_FALSE(testing::eventually([&] { return *is_drained; }, 300ms));
    lock.reset();
    CHECK(testing::eventually([&] { return *is_drained; }));
}

TEST_CASE("a transaction that rolls back leaves nothing to publish", "[outbox]")
{
    testing::scratch_database scratch({schema});
    const auto refused = testing::await(scratch.db().transact([](pqxx::work& tx) -> result<void> {
        outbox::insert(tx, schema, "me", {make_row("t", "a", 1, "x")});
        return failure{errc::conflict, "no"};
    }));

    CHECK_FALSE(refused);
    CHECK(rows_left(scratch) == 0);
}

TEST_CASE("what waits is measured", "[outbox]")
{
    testing::scratch_database scratch({"accounts", schema});
    testing::await(
        commit(scratch.db(), "another", {make_row("t", "a", 1, "x"), make_row("t", "b", 1, "x")}));
    scratch.execute("UPDATE mailbox.outbox SET created_at = now() - interval '90 s'");
    process here(scratch.db(), nowhere());
    here.publisher.start();

    CHECK(testing::eventually(
        [] { return shows("tempinbox_outbox_pending_events{schema=\"mailbox\"} 2"); }));
    CHECK(shows("tempinbox_outbox_oldest_age_seconds{schema=\"mailbox\"} 90"));
}

TEST_CASE("the outbox of the accounts schema has the same shape", "[outbox]")
{
    testing::scratch_database scratch({"accounts"});
    CHECK_NOTHROW(testing::await(scratch.db().transact([](pqxx::work& tx) {
        outbox::insert(tx, "accounts", "me", {make_row("account.state", "a", 1, "x")});
    })));
    CHECK(scratch.execute("SELECT count(*) FROM accounts.outbox")[0][0].as<int>() == 1);
}
