#include "common/core/encoding.hpp"
#include "common/events/events.hpp"
#include "common/postgres/dsn.hpp"
#include "common/testing/database_relay.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/email_repository.hpp"
#include "mailbox/ingest_repository.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

using seeds::make_message;

struct mail_world : seeds::world
{
    ingest_repository store;

    explicit mail_world(inbox_bounds bounds = {})
        : store(testing::test_host(), scratch.db(), bounds)
    {}

    std::vector<stored_message> put(const std::vector<std::shared_ptr<new_message>>& messages)
    {
        const mail_batch batch(messages.begin(), messages.end());
        return testing::await(store.store(batch));
    }
};

std::vector<delivery_status> statuses_of(const stored_message& stored)
{
    std::vector<delivery_status> statuses;
    for (const auto& one : stored.value())
        statuses.push_back(one.status);
    return statuses;
}

// A store that loses its connection while its statement waits for a row that another transaction
// has locked: now only the server knows how it will end.
struct lost_store
{
    mail_world world;
    inbox box = world.create(seeds::account());
    std::shared_ptr<new_message> message = make_message({box});
    testing::relay way{testing::server_of(world.scratch)};
    postgres::pool db{testing::test_host(), patient(way, world.scratch)};
    ingest_repository store{testing::test_host(), db, {}};
    pqxx::connection other{world.scratch.dsn()};
    std::optional<pqxx::work> lock{std::in_place, other};
    std::optional<std::vector<stored_message>> results;

    lost_store()
    {
        lock->exec("SELECT FROM mailbox.inboxes WHERE inbox_id = '" + box.id.text() +
                   "' FOR UPDATE");
        mail_batch batch{message};
        boost::asio::co_spawn(testing::test_host().loop(), store.store(std::move(batch)),
                              [this](const std::exception_ptr&, std::vector<stored_message> found) {
                                  results = std::move(found);
                              });
        REQUIRE(testing::eventually([&] { return waiting("store_mail") == 1; }));
        way.cut();
        way.restore();
        REQUIRE(testing::eventually([&] { return waiting("FOR UPDATE") == 1; }));
        CHECK_FALSE(results);
    }

    static postgres::settings patient(const testing::relay& way,
                                      const testing::scratch_database& scratch)
    {
        postgres::settings chosen;
        chosen.dsn = testing::dsn_through(way, scratch);
        chosen.connections = 2;
        chosen.lock_timeout = std::chrono::seconds(15);
        chosen.statement_timeout = std::chrono::seconds(15);
        return chosen;
    }

    static std::string waiting_condition(const std::string& words)
    {
        return " FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = "
               "'Lock' AND query LIKE '%" +
               words + "%'";
    }
    std::int64_t waiting(const std::string& words)
    {
        return world.scratch.execute("SELECT count(*)" + waiting_condition(words))[0][0]
            .as<std::int64_t>();
    }
    void release()
    {
        lock.reset();
        REQUIRE(testing::eventually([&] { return results.has_value(); }, std::chrono::seconds(20)));
    }
};

using statuses = std::vector<delivery_status>;
constexpr auto stored = delivery_status::stored;
constexpr auto gone = delivery_status::gone;
constexpr auto full = delivery_status::full;
constexpr auto unstorable = delivery_status::unstorable;

} // namespace

TEST_CASE("mail for an hour whose partition is made at this moment is stored there",
          "[mailbox][postgres]")
{
    mail_world world;
    const auto box = world.create(seeds::account());
    pqxx::connection other(world.scratch.dsn());
    pqxx::work making(other);
    making.exec("SELECT mailbox.ensure_body_hour(expires_at) FROM mailbox.inboxes");
    std::optional<std::vector<stored_message>> results;
    mail_batch batch{make_message({box})};
    boost::asio::co_spawn(testing::test_host().loop(), world.store.store(std::move(batch)),
                          [&](const std::exception_ptr&, std::vector<stored_message> found) {
                              results = std::move(found);
                          });
    const auto waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND "
                       "wait_event_type = 'Lock'";
    REQUIRE(testing::eventually([&] { return !world.scratch.execute(waits).empty(); }));

    making.commit();

    REQUIRE(testing::eventually([&] { return results.has_value(); }));
    CHECK(statuses_of(results->front()) == std::vector{delivery_status::stored});
    CHECK(world.count("bodies") == 1);
    CHECK(world.count("bodies_default") == 0);
}

TEST_CASE("a stored message is read back as it was", "[mailbox][mail-store][postgres]")
{
    mail_world world;
    email_repository emails(world.scratch.db());
    const auto box = world.create(seeds::account(), "box");
    const std::string raw =
        "Subject: hi\r\n\r\n" + std::string(70'000, 'x') + std::string("\0\xff", 2);
    const auto message = make_message({box}, raw);
    message->from_name = "Ann \"A\" {x}, \\";
    message->subject = "hi 'there' €";
    const header_addresses named{
        {{"Böx", "box@mail.test"}, {"", "with \"quotes\", {braces} and \\"}},
        {{"Cy\t\x01", "cy@example.org"}},
        {{"", "reply@example.org"}}};
    message->header_addresses = to_json(named);
    message->attachment_count = 2;
    message->defects = {"bare_newline", "nul"};

    const auto results = world.put({message});

    REQUIRE(statuses_of(results.at(0)) == statuses{stored});
    CHECK(results[0]->at(0).sequence == 1);
    const auto found = testing::await(emails.find(box.account, message->deliveries[0].id)).value();
    CHECK(found.raw == raw);
    CHECK(found.summary.from == message->from);
    CHECK(found.summary.from_name == message->from_name);
    CHECK(found.summary.subject == message->subject);
    CHECK(found.summary.received_at == message->received_at);
    CHECK(found.summary.rcpt_to == std::vector<std::string>{"box@mail.test"});
    CHECK(found.summary.codes.at(0).value == "123456");
    CHECK(found.summary.attachment_count == 2);
    CHECK(found.addresses == named);
    CHECK(found.summary.to == named.to);
    CHECK(found.defects == message->defects);
    CHECK(found.tls == "TLSv1.3");
    const auto inbox_now = testing::await(world.inboxes.find(box.account, box.id)).value();
    CHECK(inbox_now.email_count == 1);
    CHECK(inbox_now.last_sequence == 1);
    CHECK(inbox_now.last_email_at == message->received_at);
}

TEST_CASE("the event is written with the email and carries its sequence",
          "[mailbox][mail-store][postgres]")
{
    mail_world world;
    const auto box = world.create(seeds::account());
    world.put({make_message({box}), make_message({box})});
    const auto message = make_message({box});

    const auto results = world.put({message});

    const auto rows =
        world.scratch.execute("SELECT event_id, topic, key, sequence, owner, lease_until > now() + "
                              "interval '20 s', encode(payload, 'hex'), "
                              "headers FROM mailbox.outbox WHERE sequence = 3");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0][0].as<std::string>() == message->deliveries[0].id.text());
    CHECK(rows[0][1].as<std::string>() == "email.received");
    CHECK(rows[0][2].as<std::string>() == box.id.text());
    CHECK(rows[0][4].as<std::string>() == testing::test_host().instance());
    CHECK(rows[0][5].as<bool>());
    const auto published =
        ingest_repository::event_of(message->deliveries[0], results[0]->at(0).sequence);
    CHECK(to_hex(published.message.value) == rows[0][6].as<std::string>());
    CHECK(outbox::to_text(published.message.headers) == rows[0][7].as<std::string>());
    events::v1::EmailReceived event;
    REQUIRE(event.ParseFromString(published.message.value));
    CHECK(event.sequence() == 3);
    CHECK(event.email_id() == message->deliveries[0].id.text());
    CHECK(event.subject() == message->subject);
}

TEST_CASE("sequences of any size are what the schema's readers see",
          "[mailbox][mail-store][postgres]")
{
    mail_world world;
    const auto message = make_message({world.create(seeds::account())});
    for (const std::int64_t sequence : {std::int64_t{1}, std::int64_t{127}, std::int64_t{128},
                                        std::int64_t{16'384}, std::int64_t{1} << 40}) {
        const auto hex = world.scratch
                             .execute("SELECT encode(mailbox.sequence_field(" +
                                      std::to_string(sequence) + "), 'hex')")[0][0]
                             .as<std::string>();
        const auto row = ingest_repository::event_of(message->deliveries[0], sequence);
        events::v1::EmailReceived event;
        REQUIRE(event.ParseFromString(row.message.value));
        CHECK(event.sequence() == sequence);
        CHECK(to_hex(row.message.value).ends_with(hex));
    }
}

TEST_CASE("one body serves all inboxes of an account, and its hour is that of the last to end",
          "[mailbox][mail-store][postgres]")
{
    mail_world world;
    const auto account = seeds::account();
    const auto one = world.create(account);
    const auto two = world.create(account);
    world.scratch.execute("UPDATE mailbox.inboxes SET expires_at = expires_at + interval '5 hours' "
                          "WHERE inbox_id = '" +
                          two.id.text() + "'");

    world.put({make_message({one, two}), make_message({one})});

    CHECK(world.count("bodies") == 2);
    CHECK(world.count("emails WHERE is_body_shared") == 2);
    CHECK(world.count("emails WHERE NOT is_body_shared") == 1);
    CHECK(world.count("emails AS e WHERE is_body_shared AND body_hour = (SELECT date_trunc('hour', "
                      "max(expires_at)) FROM "
                      "mailbox.inboxes)") == 2);
    CHECK(world.count("emails AS e JOIN mailbox.bodies AS b USING (body_hour, body_id)") == 3);
    CHECK(world.count("outbox WHERE topic = 'email.received'") == 3);
}

TEST_CASE("a message to two accounts has a body in each, in the hour in which its inbox ends",
          "[mailbox][mail-store][postgres]")
{
    mail_world world;
    const auto one = world.create(seeds::account());
    const auto two = world.create(seeds::account());
    world.scratch.execute("UPDATE mailbox.inboxes SET expires_at = expires_at + interval '5 hours' "
                          "WHERE inbox_id = '" +
                          two.id.text() + "'");

    world.put({make_message({one, two})});

    CHECK(world.count("bodies") == 2);
    CHECK(world.count("emails WHERE is_body_shared") == 2); // neither names its recipient
    CHECK(world.count("emails AS e JOIN mailbox.bodies AS b USING (body_hour, body_id, account_id) "
                      "JOIN mailbox.inboxes AS i USING (account_id, inbox_id) "
                      "WHERE b.body_hour = date_trunc('hour', i.expires_at, 'UTC')") == 2);
}

TEST_CASE("an inbox that died before the commit gets nothing, the others do",
          "[mailbox][mail-store][postgres]")
{
    mail_world world;
    const auto account = seeds::account();
    const auto living = world.create(account);
    const auto due = world.create(account);
    const auto deleted = world.create(account);
    world.make_due("inbox_id = '" + due.id.text() + "'");
    testing::await(world.endings.expire(account.account, deleted.id));

    const auto results = world.put({make_message({due, living, deleted}), make_message({deleted})});

    CHECK(statuses_of(results.at(0)) == statuses{gone, stored, gone});
    CHECK(statuses_of(results.at(1)) == statuses{gone});
    CHECK(world.count("emails") == 1);
    CHECK(world.count("emails WHERE is_body_shared") == 0);
    CHECK(world.count("bodies") == 1);
    CHECK(world.count("outbox WHERE topic = 'email.received'") == 1);
}

TEST_CASE("a full inbox takes nothing more, by count and by bytes",
          "[mailbox][mail-store][postgres]")
{
    SECTION("count")
    {
        inbox_bounds bounds;
        bounds.emails = 2;
        mail_world world(bounds);
        const auto box = world.create(seeds::account());
        const auto results =
            world.put({make_message({box}), make_message({box}), make_message({box})});
        CHECK(statuses_of(results.at(1)) == statuses{stored});
        CHECK(statuses_of(results.at(2)) == statuses{full});
        CHECK(statuses_of(world.put({make_message({box})}).at(0)) == statuses{full});
    }
    SECTION("bytes: what begins below the limit is taken whole")
    {
        inbox_bounds bounds;
        bounds.bytes = 1'000;
        mail_world world(bounds);
        const auto box = world.create(seeds::account());
        const auto results =
            world.put({make_message({box}, std::string(900, 'x')),
                       make_message({box}, std::string(900, 'x')), make_message({box}, "x")});
        CHECK(statuses_of(results.at(0)) == statuses{stored});
        CHECK(statuses_of(results.at(1)) == statuses{stored});
        CHECK(statuses_of(results.at(2)) == statuses{full});
    }
}

namespace {

// Ten batches of messages to one or two of the five inboxes each, in an order that differs with
// `first`.
awaitable<void> store_batches(ingest_repository& store, const std::vector<inbox>& boxes, int first)
{
    for (int round = 0; round < 10; ++round) {
        mail_batch batch;
        for (int i = 0; i < 8; ++i) {
            const auto& a = boxes[static_cast<std::size_t>((first + i) % 5)];
            const auto& b = boxes[static_cast<std::size_t>((first + i * 3 + round) % 5)];
            const auto message = a.id == b.id ? make_message({a}) : make_message({b, a});
            batch.push_back(message);
        }
        const auto results = co_await store.store(std::move(batch));
        for (const auto& one : results)
            if (!one)
                throw std::runtime_error("a message was not stored");
    }
}

} // namespace

TEST_CASE("sequences have no gaps under concurrent writers, and no writer deadlocks another",
          "[mailbox][mail-store][postgres]")
{
    using namespace boost::asio::experimental::awaitable_operators;
    mail_world world;
    const auto account = seeds::account();
    std::vector<inbox> boxes;
    for (int i = 0; i < 5; ++i)
        boxes.push_back(world.create(account));
    const auto batches = [&](int first) { return store_batches(world.store, boxes, first); };

    testing::await(batches(0) && batches(1) && batches(2) && batches(3), std::chrono::seconds(60));

    const auto rows =
        world.scratch.execute("SELECT i.last_sequence, i.email_count, count(*), min(e.sequence), "
                              "max(e.sequence), count(DISTINCT e.sequence), "
                              "(SELECT count(*) FROM mailbox.outbox AS o WHERE o.key = "
                              "i.inbox_id::text AND o.topic = 'email.received') "
                              "FROM mailbox.inboxes AS i JOIN mailbox.emails AS e USING "
                              "(account_id, inbox_id) GROUP BY i.account_id, i.inbox_id");
    REQUIRE(rows.size() == 5);
    for (const auto& row : rows) {
        const auto last = row[0].as<std::int64_t>();
        CHECK(row[1].as<std::int64_t>() == last);
        CHECK(row[2].as<std::int64_t>() == last);
        CHECK(row[3].as<std::int64_t>() == 1);
        CHECK(row[4].as<std::int64_t>() == last);
        CHECK(row[5].as<std::int64_t>() == last);
        CHECK(row[6].as<std::int64_t>() == last);
    }
}

TEST_CASE("a message PostgreSQL refuses fails alone, for good where its data are at fault",
          "[mailbox][mail-store][postgres]")
{
    mail_world world;
    const auto account = seeds::account();
    const auto box = world.create(account);
    const auto bad = make_message({box, world.create(account)});
    std::optional<statuses> expected;
    SECTION("no JSON")
    {
        bad->codes = "no json";
        expected = statuses{unstorable, unstorable};
    }
    SECTION("no UTF-8")
    {
        bad->subject = "\xff";
        expected = statuses{unstorable, unstorable};
    }
    SECTION("a failure of the server's")
    {
        world.scratch.execute(R"(
            CREATE FUNCTION mailbox.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
            CREATE TRIGGER refuse BEFORE INSERT ON mailbox.emails FOR EACH ROW WHEN (NEW.subject = 'refuse')
                EXECUTE FUNCTION mailbox.refuse())");
        bad->subject = "refuse";
    }

    const auto results = world.put({make_message({box}), bad, make_message({box})});

    CHECK(results.at(0));
    CHECK(results.at(1).has_value() == expected.has_value());
    if (expected)
        CHECK(statuses_of(results.at(1)) == *expected);
    CHECK(results.at(2));
    CHECK(results.at(2)->at(0).sequence == 2);
    CHECK(world.count("emails") == 2);
}

TEST_CASE("with the database away a message is not stored and says so",
          "[mailbox][mail-store][postgres]")
{
    mail_world world;
    const auto box = world.create(seeds::account());
    postgres::settings nowhere;
    nowhere.dsn = "host=127.0.0.1 port=1 user=postgres dbname=postgres";
    nowhere.connections = 1;
    postgres::pool pool(testing::test_host(), nowhere);
    ingest_repository store(testing::test_host(), pool, {});

    const auto results = testing::await(store.store(mail_batch{make_message({box})}));

    CHECK_FALSE(results.at(0));
}

TEST_CASE("a lost connection is no lost mail: what the server stores all the same is found",
          "[mailbox][mail-store][postgres]")
{
    lost_store lost;

    lost.release();

    REQUIRE(statuses_of(lost.results->at(0)) == statuses{stored});
    const auto rows =
        lost.world.scratch.execute("SELECT sequence FROM mailbox.emails WHERE email_id = '" +
                                   lost.message->deliveries[0].id.text() + "'");
    REQUIRE(rows.size() == 1);
    CHECK(lost.results->at(0)->at(0).sequence == rows[0][0].as<std::int64_t>());
}

TEST_CASE("a lost connection whose statement came to nothing is found to have stored nothing",
          "[mailbox][mail-store][postgres]")
{
    lost_store lost;

    lost.world.scratch.execute("SELECT pg_terminate_backend(pid)" +
                               lost_store::waiting_condition("store_mail"));
    REQUIRE(testing::eventually([&] { return lost.waiting("store_mail") == 0; }));
    lost.release();

    CHECK_FALSE(lost.results->at(0));
    CHECK(lost.world.count("emails") == 0);
}

TEST_CASE("there is one function that stores mail", "[mailbox][postgres]")
{
    seeds::world world;

    const auto named =
        world.scratch.execute("SELECT proname FROM pg_proc WHERE pronamespace = "
                              "'mailbox'::regnamespace AND proname LIKE 'store\\_mail%'");

    REQUIRE(named.size() == 1);
    CHECK(named[0][0].as<std::string>() == "store_mail");
}
