#include "common/events/events.hpp"
#include "common/postgres/dsn.hpp"
#include "common/rpc/timestamp.hpp"
#include "common/testing/relay.hpp"
#include "integration/mail-ingest/mail_server.hpp"
#include "mailbox/account_state_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::account_record;
using testing::mail_client;
using testing::mail_server;
using testing::record_of;

namespace {

const std::string unknown = "550 5.1.1 No such mailbox here";
const std::string later = "451 4.3.0 Temporary failure, try again later";
const std::string accepted = "250 2.1.5 Recipient ok";

struct mail_world : mailbox::seeds::world
{
    plans::account_state account = mailbox::seeds::account();
    mailbox::email_repository emails{scratch.db()};

    mailbox::stored_email find(const std::string& id)
    {
        return testing::await(emails.find(account.account, email_id::parse(id).value())).value();
    }
};

// In the form the gateway publishes.
kafka::record tombstone_of(const plans::account_state& state)
{
    const auto row = events::make_row(state, event_id::make(), trace::traceparent::make());
    kafka::record record;
    record.topic = row.message.topic;
    record.key = row.message.key;
    record.headers = row.message.headers;
    record.is_tombstone = row.message.is_tombstone;
    return record;
}

} // namespace

TEST_CASE("a mail is committed before its 250, and is there as it was sent",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());

    const std::string message = "From: Ann <ann@sender.test>\r\nTo: box@mail.test\r\nSubject: Your "
                                "code\r\n\r\nYour verification code is 482913.\r\n";
    const auto reply = client.begin({"Box+news@MAIL.test"}).deliver(message);

    REQUIRE(reply.starts_with("250 2.0.0 Ok: queued as "));
    const auto found = world.find(testing::queued_id(reply));
    CHECK(found.raw == message);
    CHECK(found.summary.from == "ann@sender.test");
    CHECK(found.summary.subject == "Your code");
    CHECK(found.summary.rcpt_to == std::vector<std::string>{"Box+news@MAIL.test"});
    CHECK(found.summary.codes.at(0).value == "482913");
    CHECK(found.mail_from == "ann@sender.test");
    CHECK(found.helo == "client.test");
    CHECK(found.remote_address == "127.0.0.1");
    CHECK_FALSE(found.tls);
    CHECK(world.count("outbox WHERE event_id = '" + testing::queued_id(reply) + "'") == 1);
    CHECK(client.say("QUIT") == "221 2.0.0 Bye");
    CHECK(client.has_ended());
}

TEST_CASE("recipients are known, unknown, quarantined or foreign", "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    const auto old = world.create(world.account, "old");
    testing::await(world.endings.expire(world.account.account, old.id));
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({});

    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.say("RCPT TO:<old@mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<never@mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<x!y@mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<postmaster>") == unknown);
    CHECK(client.say("RCPT TO:<box@elsewhere.test>") == "550 5.7.1 Relaying denied");
}

TEST_CASE("an inbox made a moment ago receives, also after its address was asked for in vain",
          "[mail-ingest][postgres]")
{
    mail_world world;
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({});
    CHECK(client.say("RCPT TO:<late@mail.test>") == unknown);

    world.create(world.account, "late");

    CHECK(client.say("RCPT TO:<late@mail.test>") == accepted);
}

TEST_CASE("an inbox that ends before the commit gets nothing and its sender gets 550",
          "[mail-ingest][postgres]")
{
    mail_world world;
    const auto box = world.create(world.account, "box");
    world.create(world.account, "second");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({"box@mail.test"});

    testing::await(world.endings.expire(world.account.account, box.id));

    CHECK(client.deliver() == unknown);
    CHECK(world.count("emails") == 0);
    CHECK(world.count("outbox WHERE topic = 'email.received'") == 0);
    // The cache has learned it.
    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<second@mail.test>") == accepted);
    CHECK(client.deliver().starts_with("250"));
}

TEST_CASE("one inbox by several names is one message, several inboxes share a body",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "one");
    world.create(world.account, "two");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());

    const auto reply = client
                           .begin({"one@mail.test", "one+tag@mail.test", "two@mail.test",
                                   "ONE@mail.test", "one@mail.test"})
                           .deliver();

    REQUIRE(reply.starts_with("250"));
    CHECK(world.count("emails") == 2);
    CHECK(world.count("bodies") == 1);
    const auto first = world.find(testing::queued_id(reply));
    CHECK(first.summary.rcpt_to ==
          std::vector<std::string>{"one@mail.test", "one+tag@mail.test", "ONE@mail.test"});
}

TEST_CASE("a large message goes through a file, byte for byte", "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    std::string message = "Subject: large\r\n\r\n";
    for (int i = 0; i < 60'000; ++i)
        message += std::to_string(i * 7919) + " some line of a large message\r\n";
    REQUIRE(message.size() > 2'000'000);

    const auto reply = client.begin({"box@mail.test"}).deliver(message);

    REQUIRE(reply.starts_with("250"));
    CHECK(world.find(testing::queued_id(reply)).raw == message);
}

TEST_CASE("one deleted account does not keep the mail from the others", "[mail-ingest][postgres]")
{
    mail_world world;
    auto leaving = mailbox::seeds::account();
    const auto gone = world.create(leaving, "gone");
    const auto staying = world.create(world.account, "staying");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({"gone@mail.test", "staying@mail.test"});

    leaving.version = 2;
    leaving.is_deleted = true;
    server.recipients.take_events({tombstone_of(leaving)});

    CHECK(client.deliver().starts_with("250"));
    CHECK(world.count("emails") == 1);
    CHECK(world.count("emails WHERE inbox_id = '" + staying.id.text() + "'") == 1);
    // What is older than the tombstone does not restore the account.
    leaving.version = 1;
    leaving.is_deleted = false;
    server.recipients.take_events({account_record(leaving)});
    client.say("MAIL FROM:<ann@sender.test>");
    CHECK(client.say("RCPT TO:<gone@mail.test>") == unknown);
    CHECK(world.count("inboxes WHERE inbox_id = '" + gone.id.text() + "' AND is_live") == 1);
}

TEST_CASE("a message past RCPT is not kept for an account deleted meanwhile",
          "[mail-ingest][deleted-account][postgres]")
{
    mail_world world;
    mailbox::account_state_repository accounts(world.scratch.db());
    auto leaving = mailbox::seeds::account();
    world.create(leaving, "gone");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({"gone@mail.test"});

    leaving.version = 2;
    leaving.is_deleted = true;
    SECTION("this process has heard of it, and its inboxes live still")
    {
        server.recipients.take_events({tombstone_of(leaving)});
    }
    SECTION("this process has not, and its inboxes have ended")
    {
        testing::await(accounts.mark_deleted(leaving.account, leaving.version));
        testing::await(world.endings.expire_of_deleted());
    }

    CHECK(client.deliver().starts_with("550 5.1.1"));
    CHECK(world.count("emails") == 0);
    CHECK(world.count("bodies") == 0);
}

TEST_CASE("events keep the cached recipients current", "[mail-ingest][postgres]")
{
    mail_world world;
    mail_server server(world.scratch.dsn());
    const auto inbox = world.create(world.account, "box");
    events::v1::InboxCreated created;
    created.set_inbox_id(inbox.id.text());
    created.set_account_id(inbox.account.text());
    created.set_email_address("box@mail.test");
    *created.mutable_created_at() = rpc::to_timestamp(mailbox::seeds::now());
    created.mutable_expires_at()->set_seconds(4'000'000'000);
    events::v1::InboxExpired expired;
    expired.set_inbox_id(inbox.id.text());
    expired.set_account_id(inbox.account.text());
    expired.set_email_address("box@mail.test");
    const auto creation = record_of(events::topics::inbox_created, created);
    const auto path = smtp::parse_path("<box@mail.test>")->smtp_path;
    testing::await(server.recipients.find(smtp::parse_path("<nobody@mail.test>")->smtp_path));

    CHECK_FALSE(server.recipients.find_cached(path));
    server.recipients.take_events({creation, account_record(world.account)});
    REQUIRE(server.recipients.find_cached(path));
    CHECK(server.recipients.find_cached(path)->inbox == inbox.id);
    server.recipients.take_events({record_of(events::topics::inbox_expired, expired)});
    CHECK_FALSE(server.recipients.find_cached(path));
    // Topics have no order between each other: an ended inbox does not come back.
    server.recipients.take_events({creation});
    CHECK_FALSE(server.recipients.find_cached(path));
}

TEST_CASE("an inbox.created that comes late makes no address live: the next RCPT asks the database",
          "[mail-ingest][postgres]")
{
    mail_world world;
    mail_server server(world.scratch.dsn());
    const auto old = world.create(world.account, "old"), live = world.create(world.account, "live");
    testing::await(world.endings.expire(world.account.account, old.id)).value();
    std::vector<kafka::record> repaired{account_record(world.account)};
    for (const auto& inbox : {old, live}) {
        events::v1::InboxCreated created;
        created.set_inbox_id(inbox.id.text());
        created.set_account_id(inbox.account.text());
        created.set_email_address(inbox.address);
        *created.mutable_created_at() = rpc::to_timestamp(mailbox::seeds::now() - 5min);
        created.mutable_expires_at()->set_seconds(4'000'000'000);
        repaired.push_back(record_of(events::topics::inbox_created, created));
    }
    mail_client client(server.listener.local_address());
    client.begin({});

    // Before its inbox.expired has come.
    server.recipients.take_events(repaired);

    CHECK(client.say("RCPT TO:<old@mail.test>").starts_with("550 5.1.1"));
    CHECK(client.say("RCPT TO:<live@mail.test>").starts_with("250"));
}

TEST_CASE("an address in quarantine is looked up once, however often it is asked for",
          "[mail-ingest][postgres]")
{
    mail_world world;
    const auto old = world.create(world.account, "old");
    testing::await(world.endings.expire(world.account.account, old.id));
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({});
    const std::string look_ups = "tempinbox_mail_ingest_lookups_total{source=\"database\"}";
    const auto before = testing::shown_metric(look_ups);

    for (int i = 0; i < 5; ++i)
        CHECK(client.say("RCPT TO:<old@mail.test>") == unknown);

    CHECK(testing::shown_metric(look_ups) == before + 1);
}

TEST_CASE(
    "a message with data that PostgreSQL refuses is refused for good, others beside it are stored",
    "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    world.scratch.execute(R"(
        CREATE FUNCTION mailbox.refuse() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION ''no'' USING ERRCODE = split_part(NEW.subject, '' '', 2); END';
        CREATE TRIGGER refuse BEFORE INSERT ON mailbox.emails FOR EACH ROW WHEN (NEW.subject LIKE 'refuse %')
            EXECUTE FUNCTION mailbox.refuse())");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    const std::string refused = "tempinbox_mail_ingest_unstorable_messages_total";
    const auto before = testing::shown_metric(refused);
    client.begin({"box@mail.test"});

    CHECK(client.deliver("Subject: refuse 22021\r\n\r\nx\r\n") ==
          "554 5.6.0 Message cannot be stored");
    CHECK(testing::shown_metric(refused) == before + 1);

    client.say("MAIL FROM:<>");
    client.say("RCPT TO:<box@mail.test>");
    CHECK(client.deliver("Subject: refuse 54000\r\n\r\nx\r\n") == later);
    CHECK(testing::shown_metric(refused) == before + 1);

    client.say("MAIL FROM:<>");
    client.say("RCPT TO:<box@mail.test>");
    CHECK(client.deliver().starts_with("250"));
    CHECK(world.count("emails") == 1);
}

TEST_CASE("no mail is taken while the clock is more than a minute from PostgreSQL's",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({"box@mail.test"});
    REQUIRE(testing::await(server.clock_watch.is_compared()));

    server.clock.set_ahead(std::chrono::seconds(-61));
    CHECK(client.deliver() == later);
    CHECK(client.say("MAIL FROM:<>") == later);
    CHECK(world.count("emails") == 0);

    server.clock.set_ahead(std::chrono::seconds(59));
    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.deliver().starts_with("250"));
}

TEST_CASE("a message that is not read in time is answered so, and not stored",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_ingest::ingest_settings ingest_settings;
    ingest_settings.group_commit.timeout = std::chrono::milliseconds(0);
    mail_server server(world.scratch.dsn(), {}, {}, ingest_settings);
    mail_client client(server.listener.local_address());
    client.begin({"box@mail.test"});
    std::string lines = "Subject: large\r\n\r\n";
    while (lines.size() < 4 * 1024 * 1024)
        lines += std::string(70, 'x') + "\r\n";

    CHECK(client.deliver(lines) == later);
    CHECK_FALSE(testing::eventually([&] { return world.count("emails") > 0; },
                                    std::chrono::milliseconds(500)));
}

TEST_CASE("looping mail is refused", "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    std::string hops;
    for (int i = 0; i < 51; ++i)
        hops += "Received: from a by b; Mon, 1 Jan 2024 00:00:00 +0000\r\n";
    CHECK(client.begin({"box@mail.test"}).deliver(hops + "\r\nx\r\n") ==
          "554 5.4.6 Too many hops, or a loop");

    client.say("MAIL FROM:<>");
    client.say("RCPT TO:<box@mail.test>");
    CHECK(client.deliver("Received: from a by localhost with ESMTP id "
                         "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f; x\r\n\r\nx\r\n") ==
          "554 5.4.6 Too many hops, or a loop");
}

TEST_CASE("with the database away nobody is refused for good, and all is well when it is back",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    world.create(world.account, "second");
    pqxx::connection probe(world.scratch.dsn());
    testing::relay between(
        host_port(probe.hostname(), static_cast<std::uint16_t>(std::stoi(probe.port()))));
    const auto at_relay =
        postgres::with_parameter(world.scratch.dsn(), "host", between.address().host);
    const auto dsn =
        postgres::with_parameter(at_relay, "port", std::to_string(between.address().port));
    mail_ingest::recipient_settings impatient;
    impatient.timeout = std::chrono::milliseconds(300);
    mail_server server(dsn, impatient);
    mail_client client(server.listener.local_address());
    client.begin({});
    REQUIRE(testing::eventually([&] {
        return client.say("RCPT TO:<box@mail.test>") == accepted;
    })); // the first waits for a connection
    REQUIRE(client.deliver().starts_with("250"));

    between.cut();
    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<second@mail.test>") == later);
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted); // from memory
    CHECK(client.deliver() == later);
    server.core.storage_watch.database.start();
    const auto is_turned_away = [&] {
        mail_client another(server.listener.local_address());
        return another.reply() == "421 4.3.2 Service not available, try again later";
    };
    CHECK(testing::eventually(is_turned_away, std::chrono::seconds(20)));
    testing::await(server.core.storage_watch.database.stop());

    between.restore();
    const auto deliver_to_second = [&] {
        client.say("RSET");
        client.say("MAIL FROM:<>");
        return client.say("RCPT TO:<second@mail.test>") == accepted &&
               client.deliver().starts_with("250");
    };
    CHECK(testing::eventually(deliver_to_second, std::chrono::seconds(20)));
}

TEST_CASE("a drain ends idle sessions and finishes messages", "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_server server(world.scratch.dsn());
    mail_client idle(server.listener.local_address()), busy(server.listener.local_address());
    idle.begin({"box@mail.test"});
    busy.begin({"box@mail.test"});
    REQUIRE(busy.say("DATA").starts_with("354"));
    bool is_drained = false;
    boost::asio::co_spawn(testing::test_host().loop(),
                          server.listener.drain(std::chrono::seconds(20)),
                          [&](const std::exception_ptr&) { is_drained = true; });

    CHECK(idle.reply() == "421 4.3.2 Service shutting down");
    CHECK(idle.has_ended());
    CHECK_FALSE(is_drained);
    busy.send("Subject: hi\r\n\r\nx\r\n");
    CHECK(busy.say(".").starts_with("250"));
    CHECK(busy.reply() == "421 4.3.2 Service shutting down");
    CHECK(busy.has_ended());
    CHECK(testing::eventually([&] { return is_drained; }));
    CHECK(world.count("emails") == 1);
}

TEST_CASE("the time of a message is that of its own transaction, and one that was never answered "
          "has none",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_server server(world.scratch.dsn());
    const auto seconds = [] {
        return testing::shown_metric("tempinbox_smtp_transaction_duration_seconds_sum");
    };
    const auto answered = [] {
        return testing::shown_metric("tempinbox_smtp_transaction_duration_seconds_count");
    };
    const auto seconds_before = seconds();
    const auto answered_before = answered();
    {
        mail_client client(server.listener.local_address());
        client.begin({"box@mail.test"});
        client.say("RSET");
        testing::eventually([] { return false; }, std::chrono::seconds(2));
        client.say("MAIL FROM:<>");
        client.say("RCPT TO:<box@mail.test>");
        REQUIRE(client.deliver().starts_with("250"));
    }
    CHECK(answered() == answered_before + 1);
    CHECK(seconds() < seconds_before + 1.5);

    const auto aborted = [] {
        return testing::shown_metric(
            "tempinbox_smtp_transactions_total{code_class=\"none\",result=\"aborted\"}");
    };
    const auto aborted_before = aborted();
    {
        mail_client client(server.listener.local_address());
        client.begin({"box@mail.test"});
        REQUIRE(client.say("DATA").starts_with("354"));
    }
    CHECK(testing::eventually([&] { return aborted() == aborted_before + 1; }));
    CHECK(answered() == answered_before + 1);
}
