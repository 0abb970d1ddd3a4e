#include "common/kafka/topics.hpp"
#include "common/outbox/swept_rows.hpp"
#include "integration/common/kafka/collected.hpp"
#include "integration/common/kafka/sent.hpp"
#include "integration/mailbox/received_event.hpp"
#include "mailbox/backfill.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/inbox_state_rows.hpp"
#include "tempinboxctl/event_check.hpp"
#include "tempinboxctl/program.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;

namespace seeds = mailbox::seeds;
namespace topics = events::topics;

namespace {

// Publishes what the outbox holds, as inbox and mail-ingest do.
struct process
{
    process(postgres::pool& db, const kafka::settings& cluster)
        : producer(testing::test_host(), cluster),
          publisher(testing::test_host(), db, producer, "mailbox",
                    mailbox::remover_of_published(testing::test_host().instance()))
    {
        publisher.start();
    }

    kafka::producer producer;
    outbox::publisher publisher;
};

// Inboxes and mail of a quarter of an hour ago, and a Kafka with topics of the test's own.
struct events_world : seeds::world
{
    explicit events_world(const std::string& retention_millis = "86400000")
    {
        cluster.prefix = "events-" + uuid::make_v7().text() + ".";
        std::vector<kafka::topic_spec> specs;
        for (const auto* name :
             {topics::email_received, topics::inbox_created, topics::inbox_expired})
            specs.push_back({name, 2, 1, {{"retention.ms", retention_millis}}});
        specs.push_back({topics::inbox_state, 1, 1, {{"cleanup.policy", "compact"}}});
        kafka::apply_topics(cluster, specs, 30s).value();
    }

    // As it was made then; its event is what creating it wrote.
    mailbox::inbox create_early(std::chrono::minutes ago = 15min)
    {
        const auto id = create(account).id;
        scratch.execute("UPDATE mailbox.inboxes SET created_at = created_at - interval '" +
                        std::to_string(ago.count()) + " minutes' WHERE inbox_id = '" + id.text() +
                        "'");
        const auto made = await(inboxes.find(account.account, id)).value();
        replace_event(mailbox::make_created_event(made, id_of_event("created", id)));
        return made;
    }

    void end_early(const mailbox::inbox& of)
    {
        await(endings.expire(of.account, of.id)).value();
        scratch.execute("UPDATE mailbox.inboxes SET expired_at = expired_at - interval '14 "
                        "minutes' WHERE inbox_id = '" +
                        of.id.text() + "'");
        const auto row = scratch.execute(
            "SELECT *, mailbox.to_micros(created_at) AS created, mailbox.to_micros(expires_at) AS "
            "expires, mailbox.to_micros(expired_at) AS expired, false AS is_by_time FROM "
            "mailbox.inboxes WHERE inbox_id = '" +
            of.id.text() + "'")[0];
        auto ended = mailbox::read_ended_inbox(row);
        ended.event = id_of_event("expired", of.id);
        replace_event(mailbox::make_expired_event(ended));
    }

    email_id receive_early(const mailbox::inbox& to)
    {
        auto message = seeds::make_message({to}, "mail");
        message->received_at = seeds::now() - 15min;
        seeds::make_received_event(*message);
        seeds::store(mail, {message});
        return message->deliveries.front().id;
    }

    event_id id_of_event(const std::string& kind, inbox_id id)
    {
        return event_id::parse(scratch
                                   .execute("SELECT " + kind +
                                            "_event_id FROM mailbox.inboxes WHERE inbox_id = '" +
                                            id.text() + "'")[0][0]
                                   .c_str())
            .value();
    }

    // Deletes the row of an event that was never sent; returns its value.
    std::string lose(const std::string& id)
    {
        const auto rows = scratch.execute("DELETE FROM mailbox.outbox WHERE event_id = '" + id +
                                          "' RETURNING payload");
        return pqxx::binarystring(rows.at(0)[0]).str();
    }

    void publish_all()
    {
        scratch.execute("UPDATE mailbox.outbox SET lease_until = now()");
        process running(scratch.db(), cluster);
        if (!testing::eventually([&] { return count("outbox") == 0; }, 90s))
            throw std::runtime_error("the outbox was not published in time");
    }

    ctl::event_check check(const std::string& type, bool repairs = false)
    {
        ctl::settings chosen;
        chosen.database = scratch.dsn();
        chosen.kafka = cluster;
        ctl::session suite(testing::test_host(), chosen);
        ctl::event_check_request request;
        request.type = type;
        request.repairs = repairs;
        request.timeout = 30s;
        return await(ctl::check_events(suite, request), 60s).value();
    }

    int run(std::vector<std::string> words)
    {
        words.insert(words.begin(), "tempinboxctl");
        words.push_back("--database=" + scratch.dsn());
        words.push_back("--kafka-brokers=" + testing::test_brokers());
        words.push_back("--kafka-prefix=" + cluster.prefix);
        std::vector<const char*> argv;
        for (const auto& word : words)
            argv.push_back(word.c_str());
        return ctl::run(static_cast<int>(argv.size()), argv.data());
    }
    int verify(const std::string& type, std::vector<std::string> more = {})
    {
        more.insert(more.begin(), {"events", "verify", "--type", type});
        return run(std::move(more));
    }

    std::vector<kafka::record> read(const std::string& topic, const std::string& id)
    {
        testing::collected found(cluster, {topic});
        if (!found.has_all())
            throw std::runtime_error("the topic was not read in time");
        std::vector<kafka::record> chosen;
        for (const auto& record : found.records())
            if (record.header("ce_id") == id)
                chosen.push_back(record);
        return chosen;
    }

    kafka::settings cluster = testing::test_cluster();
    plans::account_state account = seeds::account();

private:
    void replace_event(const outbox::row& event) { await(replace(scratch.db(), event)); }
    static awaitable<void> replace(postgres::pool& db, outbox::row event)
    {
        return db.transact([event = std::move(event)](pqxx::work& tx) {
            tx.exec_params("DELETE FROM mailbox.outbox WHERE event_id = $1::uuid", event.id.text());
            outbox::insert_for_sweep(tx, "mailbox", "test", {event});
        });
    }
};

} // namespace

TEST_CASE("events verify finds the mail whose event was never sent, and repairs it",
          "[tempinboxctl][events][kafka][postgres]")
{
    events_world world;
    const auto inbox = world.create_early();
    const auto kept = world.receive_early(inbox), lost = world.receive_early(inbox);
    const auto value = world.lose(lost.text());
    world.publish_all();

    CHECK(world.verify("email.received") == 1);
    CHECK(world.count("outbox") == 0);
    const auto found = world.check("email.received");
    CHECK(found.compared == 2);
    REQUIRE(found.missing == 1);
    CHECK(found.listed.at(0).text() == lost.text());

    CHECK(world.verify("email.received", {"--repair"}) == 0);
    CHECK(world.check("email.received").missing == 0); // it waits in the outbox
    world.publish_all();

    const auto repaired = world.read("email.received", lost.text());
    REQUIRE(repaired.size() == 1);
    CHECK(repaired[0].value == value);
    CHECK(repaired[0].key == inbox.id.text());
    CHECK(repaired[0].header("ce_sequence") == "0000000000000000002");
    CHECK_FALSE(repaired[0].header("ce_backfill"));
    CHECK(world.read("email.received", kept.text()).size() == 1);
    CHECK(world.check("email.received").compared == 2);
    CHECK(world.verify("email.received") == 0);
}

TEST_CASE("the repaired inbox.created of an ended inbox is followed by its inbox.expired",
          "[tempinboxctl][events][kafka][postgres]")
{
    events_world world;
    const auto ended = world.create_early(), live = world.create_early();
    world.create_early();
    world.end_early(ended);
    const auto made = world.id_of_event("created", ended.id);
    const auto end = world.id_of_event("expired", ended.id);
    const auto of_live = world.id_of_event("created", live.id);
    const auto value = world.lose(made.text()), live_value = world.lose(of_live.text());
    world.publish_all();
    CHECK(world.check("inbox.expired").compared == 1);
    CHECK(world.check("inbox.expired").missing == 0);

    const auto repaired = world.check("inbox.created", true);

    CHECK(repaired.compared == 3);
    CHECK(repaired.missing == 2);
    CHECK(repaired.repaired == 2);
    CHECK(repaired.ends == 1);
    const auto order = world.scratch.execute("SELECT topic FROM mailbox.outbox WHERE key = '" +
                                             ended.id.text() + "' ORDER BY lease_until");
    REQUIRE(order.size() == 2);
    CHECK(order[0][0].as<std::string>() == "inbox.created");
    world.publish_all();
    const auto created = world.read("inbox.created", made.text());
    REQUIRE(created.size() == 1);
    CHECK(created[0].value == value);
    CHECK(world.read("inbox.created", of_live.text()).at(0).value == live_value);
    const auto ends = world.read("inbox.expired", end.text());
    REQUIRE(ends.size() == 2);
    CHECK(ends[0].value == ends[1].value);
    CHECK(ends[1].partition == created[0].partition);
    CHECK(world.verify("inbox.created") == 0);
}

TEST_CASE("a lost inbox.expired is repaired alone", "[tempinboxctl][events][kafka][postgres]")
{
    events_world world;
    const auto ended = world.create_early();
    world.end_early(ended);
    const auto end = world.id_of_event("expired", ended.id);
    const auto value = world.lose(end.text());
    world.publish_all();

    const auto repaired = world.check("inbox.expired", true);

    CHECK(repaired.repaired == 1);
    CHECK(world.count("outbox") == 1);
    world.publish_all();
    CHECK(world.read("inbox.expired", end.text()).at(0).value == value);
    CHECK(world.check("inbox.expired").missing == 0);
}

TEST_CASE("what waits in the outbox, is young or older than the retention is not missing",
          "[tempinboxctl][events][kafka][postgres]")
{
    events_world world("3600000");
    const auto young = world.create(world.account);
    const auto old = world.create_early(2h);
    for (const auto& lost : {young, old})
        world.lose(world.id_of_event("created", lost.id).text());
    world.create_early(); // waits

    CHECK(world.check("inbox.created").compared == 0);
    CHECK(world.verify("inbox.created") == 0);
    CHECK(world.verify("inbox.created", {"--until=" + to_iso8601(seeds::now() - 2h)}) == 2);
}

TEST_CASE("events verify names the option that is wrong", "[tempinboxctl][events][kafka][postgres]")
{
    events_world world;

    CHECK(world.verify("inbox.state") == 2);
    CHECK(world.verify("account.state") == 2);
    CHECK(world.verify("inbox.created", {"--since=yesterday"}) == 2);
    CHECK(world.verify("inbox.created", {"--timeout=0"}) == 2);
}

TEST_CASE("a backfill of states leaves them to the services",
          "[tempinboxctl][events][kafka][postgres]")
{
    events_world world;
    const auto inbox = world.create_early();
    world.publish_all();

    CHECK(world.run({"events", "backfill", "--type", "inbox.state"}) == 0);

    CHECK(
        world.count("outbox WHERE topic = 'inbox.state' AND lease_until <= now() AND headers "
                    "LIKE '%ce_backfill: true%' AND headers NOT LIKE '%traceparent%' AND key = '" +
                    inbox.id.text() + "'") == 1);
}

TEST_CASE("a state that a backfill read before a change is not the last record of its inbox",
          "[tempinboxctl][events][inbox-state][kafka][postgres]")
{
    events_world world;
    auto& db = world.scratch.db();
    const auto inbox = world.create_early();
    world.publish_all();
    const mailbox::backfill wanted{topics::inbox_state, topics::inbox_state, time_point()};
    const auto progress = await(mailbox::begin_backfill(db, wanted, std::nullopt, false)).value();
    auto batch = await(mailbox::read_backfill(db, wanted, progress, 100));
    mailbox::inbox_change extend;
    extend.account = world.account;
    extend.id = inbox.id;
    extend.ttl = 48h;
    await(world.inboxes.change(extend, seeds::now())).value();
    world.publish_all();

    await(mailbox::queue_backfill(db, wanted, std::move(batch)));
    world.publish_all();

    testing::collected states(world.cluster, {topics::inbox_state});
    REQUIRE(states.has_all());
    std::vector<std::int64_t> versions;
    for (const auto& record : states.records()) {
        events::v1::InboxState state;
        REQUIRE(state.ParseFromString(record.value));
        versions.push_back(state.version());
    }
    CHECK(versions == std::vector<std::int64_t>{1, 2, 1, 2});
}
