#include "common/events/events.hpp"
#include "integration/mail-ingest/mail_server.hpp"
#include "mailbox/retention_repository.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::account_record;
using testing::mail_client;
using testing::mail_server;

namespace {

const std::string later = "451 4.3.0 Temporary failure, try again later";
const std::string accepted = "250 2.1.5 Recipient ok";

struct mail_world : mailbox::seeds::world
{
    plans::account_state account = mailbox::seeds::account();
};

std::string html_of(std::size_t bytes)
{
    std::string text = "Content-Type: text/html\r\n\r\n";
    while (text.size() < bytes)
        text += "<p>your <b>code</b> is <i>123456</i></p>\r\n";
    return text;
}

} // namespace

TEST_CASE("the plan's size limit holds as it is known at the end of the message",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.account.limits.max_message_bytes = 2'000;
    world.create(world.account, "box");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({"box@mail.test"});
    CHECK(client.deliver(std::string(3'000, 'x') + "\r\n") == "552 5.3.4 Message is too large");

    client.say("MAIL FROM:<>");
    client.say("RCPT TO:<box@mail.test>");
    auto smaller = world.account;
    smaller.version = 2;
    smaller.limits.max_message_bytes = 500;
    server.recipients.take_events({account_record(smaller)});

    CHECK(client.deliver(std::string(1'000, 'x') + "\r\n") == "552 5.3.4 Message is too large");
    CHECK(world.count("emails") == 0);
}

TEST_CASE("a full inbox is refused after the message that found it so, and then at RCPT",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_ingest::recipient_settings recipient_settings;
    recipient_settings.inbox_bounds.emails = 1;
    mail_server server(world.scratch.dsn(), recipient_settings);
    mail_client client(server.listener.local_address());
    REQUIRE(client.begin({"box@mail.test"}).deliver().starts_with("250"));

    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.deliver() == "550 5.2.2 Mailbox is full");
    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") == "550 5.2.2 Mailbox is full");
}

TEST_CASE("an inbox that drops its oldest mail is full for a while only, as its sender is told",
          "[mail-ingest][postgres]")
{
    mail_world world;
    mailbox::new_inbox dropping;
    dropping.account = world.account;
    dropping.id = inbox_id::make();
    dropping.local_part = "box";
    dropping.retention.emplace().drops_oldest = true;
    testing::await(world.inboxes.create(dropping, mailbox::seeds::now())).value();
    mailbox::retention_repository retention(world.scratch.db());
    mail_ingest::recipient_settings recipient_settings;
    recipient_settings.inbox_bounds.emails = 2;
    mail_server server(world.scratch.dsn(), recipient_settings);
    mail_client client(server.listener.local_address());
    REQUIRE(client.begin({"box@mail.test"}).deliver().starts_with("250"));
    client.say("MAIL FROM:<>");
    client.say("RCPT TO:<box@mail.test>");
    REQUIRE(client.deliver().starts_with("250"));
    const std::string full = "452 4.2.2 Mailbox is full, try again later";

    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.deliver() == full);
    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") == full);
    testing::await(retention.trim(recipient_settings.inbox_bounds));
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.deliver().starts_with("250"));
}

TEST_CASE("an inbox takes its rate and no more", "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_ingest::recipient_settings recipient_settings;
    recipient_settings.messages_per_minute = 1;
    recipient_settings.message_burst = 2;
    mail_server server(world.scratch.dsn(), recipient_settings);
    mail_client client(server.listener.local_address());
    CHECK(client.begin({"box@mail.test", "box+same@mail.test"}).deliver().starts_with("250"));

    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.deliver().starts_with("250"));
    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") ==
          "450 4.2.1 Mailbox receives too much mail just now");
}

TEST_CASE("a recipient that got no message has not used up the rate of its inbox",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_ingest::recipient_settings recipient_settings;
    recipient_settings.messages_per_minute = 1;
    recipient_settings.message_burst = 1;
    mail_server server(world.scratch.dsn(), recipient_settings);
    {
        mail_client leaving(server.listener.local_address());
        leaving.begin({"box@mail.test"});
        leaving.say("QUIT");
        CHECK(leaving.has_ended());
    }
    mail_client client(server.listener.local_address());
    client.begin({});
    for (int i = 0; i < 3; ++i) {
        CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
        client.say("RSET");
        client.say("MAIL FROM:<>");
    }
    const std::string hops = "Received: from a by localhost with ESMTP id "
                             "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f; x\r\n\r\nx\r\n";
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.deliver(hops).starts_with("554"));

    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.deliver().starts_with("250"));
    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<box@mail.test>") ==
          "450 4.2.1 Mailbox receives too much mail just now");
}

TEST_CASE("an address over its message rate is refused at MAIL", "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    smtp::client_limits client_limits;
    client_limits.messages_per_minute = 1;
    client_limits.message_burst = 1;
    mail_server server(world.scratch.dsn(), {}, {}, {}, client_limits);
    mail_client client(server.listener.local_address());
    CHECK(client.begin({"box@mail.test"}).deliver().starts_with("250"));

    CHECK(client.say("MAIL FROM:<>") ==
          "450 4.7.1 Too many messages from your address, try again later");
}

TEST_CASE("a large message for which there is neither memory nor a file may come again later",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    testing::scratch_folder folder;
    mail_ingest::ingest_settings ingest_settings;
    ingest_settings.memory_bytes_per_message = 1024;
    ingest_settings.spool_directory = folder.file("spool");
    mail_server server(world.scratch.dsn(), {}, {}, ingest_settings);
    std::filesystem::remove(ingest_settings.spool_directory);
    mail_client client(server.listener.local_address());
    client.begin({"box@mail.test"});

    CHECK(client.deliver("Subject: large\r\n\r\n" + std::string(4096, 'x') + "\r\n") ==
          "452 4.3.1 Insufficient system storage, try again later");
    CHECK(world.count("emails") == 0);
}

TEST_CASE("large messages of all sessions share the room on the disk, and small ones go on",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    testing::scratch_folder folder;
    mail_ingest::ingest_settings ingest_settings;
    ingest_settings.memory_bytes_per_message = 1024;
    ingest_settings.spool_directory = folder.file("spool");
    ingest_settings.spool_bytes = 64 * 1024;
    mail_server server(world.scratch.dsn(), {}, {}, ingest_settings);
    const std::string later_on = "452 4.3.1 Insufficient system storage, try again later";
    const auto available_bytes = [&] {
        return 64 * 1024 - testing::shown_metric("tempinbox_mail_ingest_spool_bytes");
    };
    mail_client first(server.listener.local_address());
    first.begin({"box@mail.test"}).say("DATA");
    first.send("Subject: large\r\n\r\n" + std::string(40'000, 'x') + "\r\n");
    REQUIRE(testing::eventually([&] { return available_bytes() < 30'000; }));

    mail_client second(server.listener.local_address());
    second.reply();
    second.say("EHLO client.test");
    CHECK(second.say("MAIL FROM:<> SIZE=30000") == later_on);
    second.say("MAIL FROM:<>");
    second.say("RCPT TO:<box@mail.test>");
    CHECK(second.deliver("Subject: large too\r\n\r\n" + std::string(30'000, 'x') + "\r\n") ==
          later_on);
    second.say("MAIL FROM:<>");
    second.say("RCPT TO:<box@mail.test>");
    CHECK(second.deliver().starts_with("250"));

    CHECK(first.say(".").starts_with("250"));
    CHECK(testing::eventually([&] { return available_bytes() == 64 * 1024; }));
    CHECK(second.say("MAIL FROM:<> SIZE=30000") == "250 2.1.0 Sender ok");
    CHECK(world.count("emails") == 2);
}

TEST_CASE("too many connections are turned away", "[mail-ingest][postgres]")
{
    mail_world world;
    smtp::client_limits bounds;
    bounds.connections = 3;
    bounds.connections_per_address = 2;
    mail_server server(world.scratch.dsn(), {}, {}, {}, bounds);
    const auto address = server.listener.local_address();
    mail_client one(address), two(address);
    CHECK(one.reply().starts_with("220"));
    CHECK(two.reply().starts_with("220"));

    mail_client three(address);

    CHECK(three.reply() == "421 4.7.0 Too many connections from your address");
    CHECK(three.has_ended());
    one.say("QUIT");
    CHECK(one.has_ended());
    CHECK(testing::eventually([&] { return server.listener.sessions() == 1; }));
    mail_client four(address);
    CHECK(four.reply().starts_with("220"));
}

TEST_CASE("silent sessions end", "[mail-ingest][postgres]")
{
    mail_world world;
    smtp::limits bounds;
    bounds.idle = std::chrono::milliseconds(200);
    mail_server server(world.scratch.dsn(), {}, bounds);
    mail_client client(server.listener.local_address());
    CHECK(client.reply().starts_with("220"));

    CHECK(client.reply() == "421 4.4.2 Timeout, closing connection");
    CHECK(client.has_ended());
}

TEST_CASE("with no room left in memory mail is put off", "[mail-ingest][postgres]")
{
    mail_world world;
    mail_ingest::ingest_settings ingest_settings;
    ingest_settings.memory_bytes = 1'024;
    mail_server server(world.scratch.dsn(), {}, {}, ingest_settings);
    mail_client client(server.listener.local_address());
    client.reply();
    client.say("EHLO x");

    CHECK(client.say("MAIL FROM:<>") == "452 4.3.1 Insufficient system storage, try again later");
}

TEST_CASE("what a message needs for all its inboxes counts as memory", "[mail-ingest][postgres]")
{
    mail_world world;
    world.account.limits.live_inboxes = 20;
    std::vector<std::string> recipients;
    for (int i = 0; i < 20; ++i)
        recipients.push_back(world.create(world.account).address);
    mail_ingest::ingest_settings ingest_settings;
    ingest_settings.memory_bytes = 128 * 1024;
    mail_server server(world.scratch.dsn(), {}, {}, ingest_settings);
    mail_client client(server.listener.local_address());

    const auto answer = client.begin(recipients)
                            .deliver("Subject: " + std::string(16 * 1024, 's') + "\r\n\r\nx\r\n");

    CHECK(answer == "452 4.3.1 Insufficient system storage, try again later");
    CHECK(world.count("emails") == 0);
}

TEST_CASE("a client with many large messages delays another's by one of them",
          "[mail-ingest][postgres]")
{
    mail_world world;
    world.create(world.account, "box");
    mail_ingest::ingest_settings ingest_settings;
    ingest_settings.readers = 1;
    ingest_settings.memory_bytes_per_message = 4 * 1024 * 1024;
    // The messages are read one after the other, and each has this long until its reply: on a busy
    // machine the last would be put off.
    ingest_settings.group_commit.timeout = std::chrono::minutes(10);
    mail_server server(world.scratch.dsn(), {}, {}, ingest_settings);
    constexpr int count = 12;
    std::vector<std::unique_ptr<mail_client>> many;
    for (int i = 0; i < count; ++i)
        many.push_back(std::make_unique<mail_client>(server.listener.local_address()));
    mail_client other(server.listener.local_address(), "127.0.0.2");
    for (const auto& each : many) {
        each->begin({"box@mail.test"}).say("DATA");
        each->send(html_of(512 * 1024));
    }
    other.begin({"box@mail.test"}).say("DATA");
    other.send(html_of(16 * 1024));

    const auto messages = [] {
        return testing::shown_metric("tempinbox_mail_ingest_message_bytes_count");
    };
    const auto before = messages();
    for (const auto& each : many)
        each->send(".\r\n");
    REQUIRE(testing::eventually([&] { return messages() == before + count; },
                                std::chrono::seconds(30)));
    const auto reply = other.say(".");
    const auto stored = world.count("emails");
    for (const auto& each : many)
        CHECK(each->reply().substr(0, 3) == "250");

    CHECK(reply.starts_with("250"));
    CHECK(stored < count / 2);
}
