#include "feeds/restore.hpp"
#include "integration/webhook-dispatcher/feed_suite.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::await;
using testing::email;
using testing::email_record;
using testing::feed_suite;

namespace {

namespace v1 = webhooks::v1;

using names = std::vector<std::string>;

kafka::record created_record(account_id account, inbox_id inbox, event_id id)
{
    events::v1::InboxCreated message;
    message.set_inbox_id(inbox.text());
    message.set_account_id(account.text());
    message.set_email_address("box@example.org");
    message.mutable_created_at()->set_seconds(1'700'000'000);
    message.mutable_expires_at()->set_seconds(1'700'003'600);
    return testing::to_record(events::make_row(message, id, trace::traceparent::make()));
}

// Moves all that is known of the feed into the past.
void age(feed_suite& s, const std::string& by)
{
    s.scratch.execute("UPDATE webhooks.feeds SET position_at = position_at - interval '" + by +
                      "', read_at = read_at - interval '" + by + "'");
    s.scratch.execute("UPDATE webhooks.feed_events SET recorded_at = recorded_at - interval '" +
                      by + "'");
}

} // namespace

TEST_CASE("a feed has the events since it was opened, each once, as webhooks get them",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.create_webhook(s.hook.url());
    s.deliver_mails(2);
    CHECK(s.count("webhooks.feed_events") == 0);
    CHECK(s.open().latest() == 0);

    const auto inbox = inbox_id::make();
    const auto created = event_id::make();
    const auto mail = email(s.account);
    const std::vector<kafka::record> records{created_record(s.account, inbox, created),
                                             email_record(mail), email_record(mail)};
    s.deliver(records);
    s.deliver(records);

    const auto page = s.read(0);
    REQUIRE(page.outcome() == v1::FEED_OUTCOME_READ);
    CHECK(feed_suite::ids_of(page) == names{created.text(), mail.email_id()});
    CHECK(page.position() == 2);
    CHECK(page.latest() == 2);
    CHECK(page.events(0).type() == "inbox.created");
    CHECK(page.events(0).inbox_id() == inbox.text());
    CHECK(page.events(1).position() == 2);
    const auto sent = s.scratch.execute("SELECT convert_from(body, 'UTF8') FROM webhooks.events "
                                        "WHERE event_id = '" +
                                        mail.email_id() + "'");
    CHECK(page.events(1).payload() == sent[0][0].as<std::string>());
    CHECK(s.count("webhooks.due_deliveries WHERE event_id = '" + mail.email_id() + "'") == 1);
}

TEST_CASE("an account without a reader costs no row, whatever another one records",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    const auto other = account_id::make();

    s.deliver({email_record(email(other)), email_record(email(s.account))});

    CHECK(s.count("webhooks.feed_events") == 1);
    CHECK(s.count("webhooks.feeds") == 1);
    CHECK(s.count("webhooks.config_versions WHERE account_id = '" + other.text() + "'") == 0);
}

TEST_CASE("a feed that is opened is recorded by every replica", "[webhooks][feed][postgres]")
{
    feed_suite s;
    testing::dispatcher other(s.scratch.dsn(), testing::loopback_policy(),
                              testing::sends_nothing());
    s.create_webhook(s.hook.url());
    const auto before = email(s.account), after = email(s.account);
    await(other.ingest.handle({email_record(before)}));

    s.open();
    await(other.ingest.handle({email_record(after)}));

    CHECK(feed_suite::ids_of(s.read(0)) == names{after.email_id()});
}

TEST_CASE("pages go on where the last one ended, and filters move on behind what they leave out",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    auto ids = s.deliver_mails(3);
    const auto inbox = inbox_id::make();
    const auto created = event_id::make();
    s.deliver({created_record(s.account, inbox, created)});
    ids.push_back(created.text());
    ids.push_back(s.deliver_mails(1).front());

    const auto first = s.read(0, 2), second = s.read(first.position(), 2),
               third = s.read(second.position(), 2), end = s.read(third.position(), 2);
    CHECK(feed_suite::ids_of(first) == names{ids[0], ids[1]});
    CHECK(feed_suite::ids_of(second) == names{ids[2], ids[3]});
    CHECK(feed_suite::ids_of(third) == names{ids[4]});
    CHECK(end.events_size() == 0);
    CHECK(end.position() == 5);

    auto by_type = s.request(0, 1);
    by_type.add_types("inbox.created");
    CHECK(feed_suite::ids_of(s.read(by_type)) == names{created.text()});
    CHECK(s.read(by_type).position() == 5);
    auto by_inbox = s.request(0);
    by_inbox.set_inbox_id(inbox.text());
    CHECK(feed_suite::ids_of(s.read(by_inbox)) == names{created.text()});
    CHECK_FALSE(await(s.process.event_rpc.read(s.request(0, 501))).has_value());
}

TEST_CASE("no more events are read from the table than a page with a filter may have",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    const auto inbox = inbox_id::make();
    s.deliver({created_record(s.account, inbox, event_id::make())});
    s.deliver_mails(300);
    webhooks::feed_filter wanted;
    wanted.kinds = webhooks::read_event_set({"email.received"}).value();
    wanted.limit = 5;
    wanted.max_rows = 2'000;

    // The event that the filter leaves out, and five.
    CHECK(await(s.process.feeds.read(s.account, 0, wanted)).value().rows.size() == 6);
    wanted.inbox = inbox;
    CHECK(await(s.process.feeds.read(s.account, 0, wanted)).value().rows.size() == 301);

    auto request = s.request(0, 5);
    request.add_types("email.received");
    const auto page = s.read(request);
    CHECK(page.events_size() == 5);
    CHECK(page.position() == 6);
}

TEST_CASE("a page ends at 256 KiB", "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    std::vector<kafka::record> records;
    for (int i = 0; i < 30; ++i)
        records.push_back(email_record(email(s.account, std::string(20'000, 'x'))));
    s.deliver(records);

    const auto page = s.read(0, 500);

    CHECK(page.events_size() == 12);
    CHECK(page.position() == 12);
    CHECK(s.read(page.position(), 500).events_size() == 12);
}

TEST_CASE("a place of an event, of a time, of the beginning and of the end",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    const auto ids = s.deliver_mails(3);
    v1::FindPositionRequest request;
    *request.mutable_account() = testing::account_on_plan(s.account, 5, 20);

    request.set_event_id(ids[1]);
    CHECK(await(s.process.event_rpc.find_position(request)).value().position() == 2);
    request.set_event_id(event_id::make().text());
    CHECK(await(s.process.event_rpc.find_position(request)).error().code == errc::not_found);

    age(s, "2 hours");
    s.deliver_mails(2);
    const auto now = to_unix_micros(system_clock_source{}.now());
    const std::int64_t hour = 3'600'000'000;
    for (const auto& [back, expected] : {std::pair{3 * hour, 0}, {hour, 3}, {-hour, 5}}) {
        request.set_since(now - back);
        CHECK(await(s.process.event_rpc.find_position(request)).value().position() == expected);
    }
    CHECK(s.open().earliest() == 0);
    CHECK(s.open().latest() == 5);
}

TEST_CASE("a time is found beside holes", "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    s.scratch.execute(
        "INSERT INTO webhooks.feed_events (account_id, position, event_id, inbox_id, type, "
        "recorded_at, body) SELECT '" +
        s.account.text() +
        "', n * n, gen_random_uuid(), gen_random_uuid(), 1, now() - (60 - n) * interval '1 min', "
        "'{}' FROM generate_series(1, 50) AS n");

    for (int n = 1; n <= 50; ++n) {
        const auto found = await(s.process.feeds.find_position(
            s.account,
            system_clock_source{}.now() - std::chrono::minutes(60 - n) - std::chrono::seconds(30)));
        REQUIRE(found == n * n);
    }
}

TEST_CASE("the ends of several feeds are read at once", "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    s.deliver_mails(3);
    v1::GetPositionsRequest request;
    request.add_account_ids(s.account.text());
    request.add_account_ids(account_id::make().text());

    const auto found = await(s.process.event_rpc.get_positions(request)).value();

    REQUIRE(found.positions_size() == 1);
    CHECK(found.positions(0).account_id() == s.account.text());
    CHECK(found.positions(0).position() == 3);
    for (int i = 0; i < 250; ++i)
        request.add_account_ids(s.account.text());
    CHECK_FALSE(await(s.process.event_rpc.get_positions(request)).has_value());
}

TEST_CASE("a feed that nobody reads ends after a week, and its pause is a hole",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    s.deliver_mails(2);
    age(s, "6 days");
    CHECK_FALSE(await(s.process.partitions.end_unread_feeds()));
    s.read(2); // counts as reading
    age(s, "8 days");
    CHECK(await(s.process.partitions.end_unread_feeds()));
    CHECK_FALSE(await(s.process.partitions.end_unread_feeds()));
    s.deliver_mails(3);
    CHECK(s.count("webhooks.feed_events") == 2);

    const auto paused = s.read(2);
    CHECK(paused.outcome() == v1::FEED_OUTCOME_EXPIRED);
    CHECK(paused.resume_position() == 3);
    const auto ids = s.deliver_mails(1);

    CHECK(s.read(2).outcome() == v1::FEED_OUTCOME_EXPIRED);
    CHECK(feed_suite::ids_of(s.read(3)) == ids);
    // A page never goes past the hole.
    const auto before = s.read(0);
    CHECK(before.events_size() == 2);
    CHECK(before.position() == 2);
}

TEST_CASE("an hour's reading is noted once, and keeps the feed", "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    age(s, "6 days");
    s.read(0);
    CHECK(s.count("webhooks.feeds WHERE read_at > now() - interval '1 minute'") == 1);
    const auto read_at = [&s] {
        return s.scratch.execute("SELECT read_at FROM webhooks.feeds")[0][0].as<std::string>();
    };
    const auto noted = read_at();
    s.read(0);
    s.open();
    CHECK(read_at() == noted);
    CHECK(s.count("webhooks.config_versions WHERE version = 1") == 1);
}

TEST_CASE("what is older than three days goes, and no position is given again",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    s.deliver_mails(4);
    s.scratch.execute("SELECT webhooks.ensure_feed_days(current_date - 9, current_date - 4)");
    age(s, "5 days");
    s.scratch.execute("UPDATE webhooks.feeds SET read_at = now()");

    while (await(s.process.partitions.raise_feed_floors()))
        ;
    while (await(s.process.partitions.drop_feed_partition()))
        ;
    CHECK(s.count("webhooks.feed_events") == 0);
    const auto expired = s.read(1);
    CHECK(expired.outcome() == v1::FEED_OUTCOME_EXPIRED);
    CHECK(expired.missed() == 3);
    CHECK(expired.resume_position() == 4);
    CHECK(s.read(4).outcome() == v1::FEED_OUTCOME_READ);

    s.deliver_mails(1);
    CHECK(s.read(4).events(0).position() == 5);
    CHECK(s.read(1).missed() == 3);
}

TEST_CASE("the first recording of a day raises the floor", "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    s.deliver_mails(3);
    age(s, "1 day");

    s.deliver_mails(2);
    CHECK(s.count("webhooks.feeds WHERE last_position = 3 AND position_at > now() - interval '1 "
                  "minute'") == 1);
    s.deliver_mails(2);

    CHECK(s.count("webhooks.feeds WHERE last_position = 3") == 1);
    CHECK(s.read(0).position() == 7);
}

TEST_CASE("no event is recorded before the floor when the clock steps back",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    s.deliver_mails(2);
    s.scratch.execute("UPDATE webhooks.feeds SET last_position = 2, position_at = now() + "
                      "interval '1 hour'");

    s.deliver_mails(2);
    s.deliver_mails(1);

    CHECK(s.read(2).position() == 5);
}

TEST_CASE("positions of before a restore go on below it and are reset above it",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    s.deliver_mails(3);
    s.deliver_mails(1);
    CHECK(s.read(4).epoch() == s.epoch);
    // As a restore to the moment before the last event leaves it, which is then recorded again.
    s.scratch.execute("DELETE FROM webhooks.feed_events WHERE position = 4");
    CHECK(s.read(4).outcome() == v1::FEED_OUTCOME_RESET);
    CHECK(s.read(4).resume_position() == 3);
    CHECK(await(feeds::begin_epochs(s.scratch.db(), "7000-2")).rows == 1);
    s.deliver_mails(1);
    s.deliver_mails(1);

    CHECK(s.count("webhooks.feeds WHERE epoch_position = 3") == 1);
    CHECK(s.read(2, 100, s.epoch).events_size() == 3);
    CHECK(s.read(3, 100, s.epoch).events_size() == 2);
    const auto ahead = s.read(4, 100, s.epoch);
    CHECK(ahead.outcome() == v1::FEED_OUTCOME_RESET);
    CHECK(ahead.resume_position() == 3);
    CHECK(ahead.epoch() > s.epoch);
    CHECK(s.read(5, 100, ahead.epoch()).outcome() == v1::FEED_OUTCOME_READ);
    CHECK(s.read(6, 100, ahead.epoch()).outcome() == v1::FEED_OUTCOME_RESET);
    for (const int epoch : {s.epoch - 1, ahead.epoch() + 1, 0, -5}) {
        const auto foreign = s.read(1, 100, epoch);
        CHECK(foreign.outcome() == v1::FEED_OUTCOME_RESET);
        CHECK(foreign.resume_position() == 0);
    }
}

TEST_CASE("after a restore who was past the moment begins there once, and nobody misses an event",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    std::vector<std::string> ids;
    std::vector<kafka::record> kept;
    for (int i = 0; i < 6; ++i) {
        const auto mail = email(s.account);
        ids.push_back(mail.email_id());
        kept.push_back(email_record(mail));
        s.deliver({kept.back()});
    }
    // The database is as it was behind the fourth event; Kafka has all, read again from the third.
    s.scratch.execute("DELETE FROM webhooks.feed_events WHERE position > 4");
    s.scratch.execute("UPDATE webhooks.feeds SET server = 'another timeline'");
    s.deliver({kept.begin() + 2, kept.end()});
    const auto fresh = s.deliver_mails(1).front();

    const names since{ids[4], ids[5], fresh};
    for (const std::int64_t past : {5, 6}) {
        const auto reset = s.read(past, 100, s.epoch);
        REQUIRE(reset.outcome() == v1::FEED_OUTCOME_RESET);
        REQUIRE(reset.resume_position() == 4);
        const auto rest = s.read(reset.resume_position(), 100, reset.epoch());
        CHECK(rest.outcome() == v1::FEED_OUTCOME_READ);
        CHECK(feed_suite::ids_of(rest) == since);
    }
    const auto before = s.read(2, 100, s.epoch);
    CHECK(before.outcome() == v1::FEED_OUTCOME_READ);
    CHECK(before.epoch() > s.epoch);
    CHECK(feed_suite::ids_of(before) == names{ids[2], ids[3], ids[4], ids[5], fresh});
    CHECK(s.read(before.position(), 100, before.epoch()).events_size() == 0);
}

TEST_CASE("after a second restore to the same moment readers of the first one are reset, too",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    // It was opened a while ago.
    s.scratch.execute("UPDATE webhooks.feeds SET epoch = epoch - 100");
    const auto opened = s.open().epoch();
    s.deliver_mails(3);
    s.scratch.execute("CREATE TABLE webhooks.feeds_of_backup AS SELECT * FROM webhooks.feeds");
    const auto restore = [&s](const std::string& server) {
        s.scratch.execute("DELETE FROM webhooks.feed_events WHERE position > 3");
        s.scratch.execute("DELETE FROM webhooks.feeds");
        s.scratch.execute("INSERT INTO webhooks.feeds SELECT * FROM webhooks.feeds_of_backup");
        s.scratch.execute("UPDATE webhooks.feeds SET server = '" + server + "'");
        return s.deliver_mails(2);
    };
    restore("one timeline");
    const auto first = s.read(3, 100, opened);
    REQUIRE(first.position() == 5);
    // An epoch is a second.
    REQUIRE(testing::eventually([&] {
        return s.count("webhooks.feed_epoch() AS second WHERE second > " +
                       std::to_string(first.epoch())) == 1;
    }));

    const auto ids = restore("another timeline");

    const auto reset = s.read(first.position(), 100, first.epoch());
    REQUIRE(reset.outcome() == v1::FEED_OUTCOME_RESET);
    CHECK(feed_suite::ids_of(s.read(3, 100, opened)) == ids);
    CHECK(s.read(4, 100, opened).outcome() == v1::FEED_OUTCOME_RESET);
    CHECK(s.read(4, 100, opened).resume_position() == 3);
}

TEST_CASE("a restore to before the first event, or before the feed, is noticed, too",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    const bool is_lost = GENERATE(false, true);
    s.open();
    CHECK(s.count("webhooks.feeds WHERE server = webhooks.feed_server()") == 1);
    // It was opened a while ago.
    s.scratch.execute("UPDATE webhooks.feeds SET epoch = epoch - 100");
    const auto epoch = s.open().epoch();
    s.deliver_mails(3);
    s.scratch.execute("DELETE FROM webhooks.feed_events");
    s.scratch.execute(is_lost ? "DELETE FROM webhooks.feeds"
                              : "UPDATE webhooks.feeds SET server = 'another timeline'");

    // Another reader comes first, and the feed is beyond the place of this one when it comes.
    s.open();
    const auto ids = s.deliver_mails(4);

    const auto reset = s.read(3, 100, epoch);
    REQUIRE(reset.outcome() == v1::FEED_OUTCOME_RESET);
    CHECK(reset.resume_position() == 0);
    CHECK(feed_suite::ids_of(s.read(0, 100, reset.epoch())) == ids);
}

TEST_CASE("a dump that is loaded is another server", "[webhooks][feed][postgres]")
{
    feed_suite s;
    const auto server = [&s] {
        return s.scratch.execute("SELECT webhooks.feed_server()")[0][0].as<std::string>();
    };
    const auto before = server();
    CHECK(server() == before);

    s.scratch.execute("CREATE TABLE webhooks.loaded (LIKE webhooks.feeds INCLUDING ALL)");
    s.scratch.execute("DROP TABLE webhooks.feeds");
    s.scratch.execute("ALTER TABLE webhooks.loaded RENAME TO feeds");

    CHECK(server() != before);
}

TEST_CASE("a transaction that stays open, here or in another database, holds no reader up",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    testing::scratch_database other({});
    pqxx::connection here(s.scratch.dsn()), there(other.dsn());
    pqxx::work writing_here(here), writing_there(there);
    // Both have an id that all later transactions see as running.
    writing_here.exec("SELECT pg_current_xact_id()");
    writing_there.exec("SELECT pg_current_xact_id()");

    const auto ids = s.deliver_mails(3);

    CHECK(feed_suite::ids_of(s.read(0)) == ids);
    CHECK(s.read(0).latest() == 3);
}

TEST_CASE("an event that comes hours late is recorded then, once", "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    auto late = email(s.account);
    late.mutable_received_at()->set_seconds(late.received_at().seconds() - 70 * 3'600);
    s.deliver_mails(1);

    s.deliver({email_record(late)});
    s.deliver_mails(1);
    s.deliver({email_record(late)});

    const auto page = s.read(0);
    CHECK(page.events_size() == 3);
    CHECK(page.events(1).event_id() == late.email_id());
}

TEST_CASE("a deleted account's feed ends at once, and its events are purged",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    s.open();
    s.deliver_mails(3);
    plans::account_state deleted;
    deleted.account = s.account;
    deleted.version = 9;
    deleted.is_deleted = true;
    await(s.process.rules.put_states({deleted}));
    s.deliver_mails(2);
    CHECK(s.count("webhooks.feeds") == 0);
    CHECK(s.count("webhooks.feed_events") == 3);
    v1::OpenFeedRequest request;
    *request.mutable_account() = testing::account_on_plan(s.account, 5, 20);
    CHECK(await(s.process.event_rpc.open(request)).error().reason == error_reason::account_deleted);
    CHECK(await(s.process.event_rpc.read(s.request(0))).error().code == errc::permission_denied);

    s.scratch.execute(
        "UPDATE webhooks.deleted_accounts SET deleted_at = deleted_at - interval '2 minutes'");
    while (await(s.process.partitions.purge_deleted_accounts()))
        ;

    CHECK(s.count("webhooks.feed_events") == 0);
    CHECK(s.count("webhooks.feeds") == 0);
}
