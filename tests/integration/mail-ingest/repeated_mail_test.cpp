#include "integration/mail-ingest/mail_server.hpp"

#include <catch2/catch.hpp>

#include <optional>

using namespace tempinbox;
using testing::held_lock;
using testing::mail_client;
using testing::mail_server;
using testing::queued_id;

namespace {

const std::string message =
    "From: Ann <ann@sender.test>\r\nMessage-ID: <1@sender.test>\r\nSubject: hi\r\n\r\nhello\r\n";

struct repeat_world : mailbox::seeds::world
{
    plans::account_state account = mailbox::seeds::account();

    repeat_world() { create(account, "box"); }

    bool has_unacknowledged(std::int64_t expected)
    {
        return testing::eventually([&] { return count("unacknowledged_emails") == expected; });
    }
    bool waits_for_a_lock(int expected)
    {
        const auto waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = "
                             "current_database() AND wait_event_type = 'Lock'";
        return testing::eventually(
            [&] { return scratch.execute(waiting)[0][0].as<int>() == expected; });
    }
};

const std::string inbox_row =
    "SELECT FROM mailbox.inboxes WHERE email_address = 'box@mail.test' FOR UPDATE";
const std::string unacknowledged_rows =
    "LOCK TABLE mailbox.unacknowledged_emails IN SHARE MODE"; // readers pass, writers wait

// Sends a message up to its end, without reading the reply.
void begin_sending(mail_client& client, const std::string& text)
{
    client.begin({"box@mail.test"});
    REQUIRE(client.say("DATA").starts_with("354"));
    client.send(text + ".\r\n");
}

std::string send(mail_server& server, const std::string& text, bool says_quit,
                 const std::vector<std::string>& to = {"box@mail.test"})
{
    mail_client client(server.listener.local_address());
    const auto reply = client.begin(to).deliver(text);
    REQUIRE(reply.starts_with("250 "));
    if (says_quit) {
        CHECK(client.say("QUIT") == "221 2.0.0 Bye");
    }
    return queued_id(reply);
}

} // namespace

TEST_CASE("a message again, after its sender went away without a word, is the same email",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_server server(world.scratch.dsn());
    const auto first = send(server, message, false);
    REQUIRE(world.has_unacknowledged(1));

    CHECK(send(server, message, true) == first);
    CHECK(send(server, message, true) == first);

    CHECK(world.count("emails") == 1);
    CHECK(world.count("inboxes WHERE email_count = 1 AND last_sequence = 1") == 1);
    CHECK(world.count("outbox WHERE topic = 'email.received'") == 1);
}

TEST_CASE("a message again, after its sender said something behind the 250, is a new email",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_server server(world.scratch.dsn());
    const auto first = send(server, message, true);

    CHECK(send(server, message, true) != first);

    CHECK(world.count("emails") == 2);
    CHECK(world.count("unacknowledged_emails") == 0);
}

TEST_CASE(
    "only the same bytes from the same sender with a Message-ID in the same inbox are a repeat",
    "[mail-ingest][postgres]")
{
    repeat_world world;
    world.create(world.account, "other");
    mail_server server(world.scratch.dsn());
    const std::string without_id = "Subject: hi\r\n\r\nhello\r\n";
    const auto first = send(server, message, false);
    const auto nameless = send(server, without_id, false);
    REQUIRE(world.has_unacknowledged(1));

    CHECK(send(server, message + "more\r\n", true) != first);
    CHECK(send(server, message, true, {"other@mail.test"}) != first);
    CHECK(send(server, without_id, true) != nameless);
    mail_client client(server.listener.local_address());
    client.reply();
    client.say("EHLO client.test");
    client.say("MAIL FROM:<bob@sender.test>");
    client.say("RCPT TO:<box@mail.test>");
    CHECK(queued_id(client.deliver(message)) != first);
}

TEST_CASE("the same message to another address of the inbox is another email",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_server server(world.scratch.dsn());
    const auto first = send(server, message, false, {"box+ann@mail.test", "box+bob@mail.test"});
    REQUIRE(world.has_unacknowledged(1));

    const auto other = send(server, message, true, {"box+cid@mail.test"});
    const auto more = send(server, message, true, {"box+bob@mail.test", "box+cid@mail.test"});

    CHECK(other != first);
    CHECK(more != first);
    CHECK(send(server, message, true, {"box+bob@mail.test"}) == first);
    CHECK(send(server, message, true, {"box+bob@mail.test", "box+ann@mail.test"}) == first);
    CHECK(world.count("emails") == 3);
}

TEST_CASE("of a message to two inboxes only what one of them has is left out",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    world.create(world.account, "other");
    mail_server server(world.scratch.dsn());
    const auto first = send(server, message, false);
    REQUIRE(world.has_unacknowledged(1));

    CHECK(send(server, message, true, {"box@mail.test", "other@mail.test"}) == first);

    CHECK(world.count("emails") == 2);
    CHECK(world.count("inboxes WHERE email_count = 1 AND last_sequence = 1") == 2);
}

TEST_CASE("after ten minutes a repeat is a new email", "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_server server(world.scratch.dsn());
    const auto first = send(server, message, false);
    REQUIRE(world.has_unacknowledged(1));
    world.scratch.execute(
        "UPDATE mailbox.unacknowledged_emails SET until = until - interval '10 minutes'");

    CHECK(send(server, message, true) != first);

    mailbox::ingest_repository store(testing::test_host(), world.scratch.db(), {});
    testing::await(store.heartbeat("any"));
    CHECK(world.count("unacknowledged_emails") == 0);
}

TEST_CASE("all mail of the minute before a crash is unacknowledged", "[mail-ingest][postgres]")
{
    repeat_world world;
    std::string first;
    {
        mail_server server(world.scratch.dsn());
        first = send(server, message, true);
    }
    REQUIRE(world.count("unacknowledged_emails") == 0);
    REQUIRE(world.count("ingest_runs") == 0);
    mailbox::ingest_repository store(testing::test_host(), world.scratch.db(), {});

    SECTION("and it is the restarted process that sees it")
    {
        testing::await(store.sign_on("test"));
        mail_server server(world.scratch.dsn());
        CHECK(send(server, message, true) == first);
    }
    SECTION("and another one that sees it after a while")
    {
        testing::await(store.sign_on("lost"));
        world.scratch.execute(
            "UPDATE mailbox.ingest_runs SET alive_at = now() - interval '31 seconds'");
        testing::await(store.heartbeat("other"));
        CHECK(world.count("ingest_runs WHERE replica = 'other'") == 1);
        CHECK(world.count("ingest_runs") == 1);
        mail_server server(world.scratch.dsn());
        CHECK(send(server, message, true) == first);
    }
    SECTION("but not what came before that minute")
    {
        // The process was last alive two minutes after the mail: the mail's ids say when it came.
        testing::await(store.sign_on("test"));
        world.scratch.execute(
            "UPDATE mailbox.ingest_runs SET alive_at = now() + interval '2 minutes'");
        mail_server server(world.scratch.dsn());
        CHECK(send(server, message, true) != first);
    }
}

TEST_CASE("a QUIT sent with the message confirms it when the client ends in order",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_server server(world.scratch.dsn());
    const auto send_with_quit = [&](bool waits) {
        mail_client client(server.listener.local_address());
        client.begin({"box@mail.test"});
        REQUIRE(client.say("DATA").starts_with("354"));
        client.send(message + ".\r\nQUIT\r\n");
        if (!waits)
            return;
        CHECK(client.reply().starts_with("250 "));
        CHECK(client.reply() == "221 2.0.0 Bye");
    };
    const auto has_no_session = [&] {
        return testing::eventually([&] { return server.listener.sessions() == 0; });
    };

    send_with_quit(true);
    REQUIRE(has_no_session());
    send_with_quit(false); // hangs up before it could see the 250
    REQUIRE(has_no_session());

    CHECK(world.has_unacknowledged(1));
    CHECK(world.count("emails") == 2);
}

TEST_CASE("a message again, before it is written down that the first was not confirmed, is the "
          "same email",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    world.create(world.account, "other");
    mail_server server(world.scratch.dsn());
    std::optional<held_lock> lock(std::in_place, world.scratch.dsn(), unacknowledged_rows);
    const auto first = send(server, message, false);
    REQUIRE(testing::eventually([&] { return server.listener.sessions() == 0; }));

    mail_client again(server.listener.local_address());
    begin_sending(again, message);
    // This one waits; other mail does not.
    send(server, message + "more\r\n", true);
    send(server, "Subject: hi\r\n\r\nhello\r\n", true);
    CHECK(world.count("emails") == 3);
    lock.reset();

    CHECK(queued_id(again.reply()) == first);
    CHECK(world.count("emails") == 3);
}

TEST_CASE("a message again, after its sender hung up before it was stored, is the same email",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_server server(world.scratch.dsn());
    std::optional<held_lock> note_lock(std::in_place, world.scratch.dsn(), unacknowledged_rows);
    std::optional<held_lock> lock(std::in_place, world.scratch.dsn(), inbox_row);
    {
        mail_client first(server.listener.local_address());
        begin_sending(first, message);
        REQUIRE(world.waits_for_a_lock(1));
    }
    mail_client again(server.listener.local_address());
    begin_sending(again, message);
    mail_client once_more(server.listener.local_address());
    begin_sending(once_more, message);
    lock.reset();
    send(server, message + "more\r\n", true);
    CHECK(world.count("emails") == 2);
    note_lock.reset();

    const auto id = queued_id(again.reply());
    CHECK(queued_id(once_more.reply()) == id);
    CHECK(world.count("emails") == 2);
    CHECK(world.count("emails WHERE email_id = '" + id + "'") == 1);
}

TEST_CASE("a message again, while its first commit lasts longer than its sender was let wait, is "
          "the same email",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_ingest::ingest_settings impatient;
    impatient.group_commit.timeout = std::chrono::milliseconds(200);
    mail_server server(world.scratch.dsn(), {}, {}, impatient);
    mail_client client(server.listener.local_address());
    std::optional<held_lock> note_lock(std::in_place, world.scratch.dsn(), unacknowledged_rows);
    std::optional<held_lock> lock(std::in_place, world.scratch.dsn(), inbox_row);
    const std::string not_now = "451 4.3.0 Temporary failure, try again later";

    begin_sending(client, message);
    CHECK(client.reply() == not_now);
    client.say("MAIL FROM:<ann@sender.test>");
    client.say("RCPT TO:<box@mail.test>");
    CHECK(client.deliver(message) == not_now);
    lock.reset();
    REQUIRE(world.waits_for_a_lock(1)); // the note
    note_lock.reset();
    REQUIRE(world.has_unacknowledged(1));

    send(server, message, true);
    CHECK(world.count("emails") == 1);
}

TEST_CASE("the same message on several connections at once is several emails",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_server server(world.scratch.dsn());
    std::optional<held_lock> lock(std::in_place, world.scratch.dsn(), inbox_row);
    mail_client one(server.listener.local_address());
    mail_client other(server.listener.local_address());
    begin_sending(one, message);
    begin_sending(other, message);
    lock.reset();

    CHECK(queued_id(one.reply()) != queued_id(other.reply()));
    CHECK(send(server, message, true) != ""); // while neither client has sent anything since
    CHECK(world.count("emails") == 3);
}

TEST_CASE("the same message twice in one session is two emails, also of a client that only listens "
          "by then",
          "[mail-ingest][postgres]")
{
    repeat_world world;
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    begin_sending(client, message);
    client.send("MAIL FROM:<ann@sender.test>\r\nRCPT TO:<box@mail.test>\r\nDATA\r\n");
    const auto first = client.reply();
    client.reply();
    client.reply();
    REQUIRE(client.reply().starts_with("354"));
    client.send(message + ".\r\n");
    client.end_output();

    const auto second = client.reply();
    REQUIRE(first.starts_with("250 2.0.0"));
    REQUIRE(second.starts_with("250 2.0.0"));
    CHECK(queued_id(first) != queued_id(second));
    CHECK(world.count("emails") == 2);
}
