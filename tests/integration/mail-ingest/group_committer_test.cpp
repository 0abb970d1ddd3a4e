#include "integration/mail-ingest/mail_server.hpp"

#include <catch2/catch.hpp>

#include <deque>

using namespace tempinbox;
using testing::held_lock;
using testing::mail_client;
using testing::mail_server;

namespace {

std::string row_of(inbox_id inbox)
{
    return "SELECT FROM mailbox.inboxes WHERE inbox_id = '" + inbox.text() + "' FOR UPDATE";
}

void send_whole(mail_client& client, const std::string& subject)
{
    REQUIRE(client.say("DATA").starts_with("354"));
    client.send("Subject: " + subject + "\r\n\r\nhello\r\n.\r\n");
}

// Until the server has it: messages of several connections come in any order otherwise.
void send_whole_until_taken(mail_client& client, const std::string& subject)
{
    const std::string taken = "tempinbox_mail_ingest_message_bytes_count";
    const auto before = testing::shown_metric(taken);
    send_whole(client, subject);
    REQUIRE(testing::eventually([&] { return testing::shown_metric(taken) > before; }));
}

} // namespace

TEST_CASE("a commit that is held up does not hold up the mail of others", "[mail-ingest][postgres]")
{
    mailbox::seeds::world world;
    const auto account = mailbox::seeds::account();
    const auto held = world.create(account, "held");
    world.create(account, "other");
    mail_server server(world.scratch.dsn());
    mail_client waiting(server.listener.local_address());
    mail_client quick(server.listener.local_address());
    waiting.begin({"held@mail.test"});
    quick.begin({"other@mail.test"});

    auto lock = std::make_unique<held_lock>(world.scratch.dsn(), row_of(held.id));
    send_whole(waiting, "held");
    CHECK(quick.deliver().starts_with("250 2.0.0"));
    CHECK(world.count("emails WHERE subject = 'held'") == 0);

    lock.reset();
    CHECK(waiting.reply().starts_with("250 2.0.0"));
}

TEST_CASE("a message that would wait for a commit behind a full queue gets 452",
          "[mail-ingest][postgres]")
{
    mailbox::seeds::world world;
    const auto account = mailbox::seeds::account();
    const auto held = world.create(account, "held");
    mail_ingest::ingest_settings small;
    small.group_commit.max_concurrent_commits = 1;
    small.group_commit.max_queued_messages = 1;
    mail_server server(world.scratch.dsn(), {}, {}, small);
    std::deque<mail_client> clients;
    for (int i = 0; i < 3; ++i)
        clients.emplace_back(server.listener.local_address()).begin({"held@mail.test"});

    auto lock = std::make_unique<held_lock>(world.scratch.dsn(), row_of(held.id));
    send_whole(clients[0], "under way");
    // Until it waits in the database it would take the second into its batch.
    const auto waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                       "AND wait_event_type = 'Lock'";
    REQUIRE(testing::eventually([&] { return world.scratch.execute(waits)[0][0].as<int>() == 1; }));
    send_whole(clients[1], "queued");
    CHECK(clients[2].deliver() == "452 4.3.1 Insufficient system storage, try again later");

    lock.reset();
    CHECK(clients[0].reply().starts_with("250 2.0.0"));
    CHECK(clients[1].reply().starts_with("250 2.0.0"));
}

TEST_CASE("a message whose commit ends too late for its sender is one email when it comes again",
          "[mail-ingest][postgres]")
{
    mailbox::seeds::world world;
    const auto held = world.create(mailbox::seeds::account(), "held");
    mail_ingest::ingest_settings impatient;
    impatient.group_commit.timeout = std::chrono::seconds(3); // the first message compiles patterns
    mail_server server(world.scratch.dsn(), {}, {}, impatient);
    mail_client client(server.listener.local_address());
    client.begin({"held@mail.test"});
    const std::string message = "Message-ID: <1@sender.test>\r\n\r\nhello\r\n";

    auto lock = std::make_unique<held_lock>(world.scratch.dsn(), row_of(held.id));
    CHECK(client.deliver(message) == "451 4.3.0 Temporary failure, try again later");
    lock.reset();
    REQUIRE(testing::eventually([&] { return world.count("unacknowledged_emails") == 1; }));

    mail_server patient(world.scratch.dsn());
    mail_client again(patient.listener.local_address());
    CHECK(again.begin({"held@mail.test"}).deliver(message).starts_with("250"));
    CHECK(world.count("emails") == 1);
}

TEST_CASE("what queues up behind a commit is stored in the order it came",
          "[mail-ingest][postgres]")
{
    mailbox::seeds::world world;
    const auto account = mailbox::seeds::account();
    const auto held = world.create(account, "held");
    const auto other = world.create(account, "other");
    mail_ingest::ingest_settings one_at_a_time;
    one_at_a_time.group_commit.max_concurrent_commits = 1;
    mail_server server(world.scratch.dsn(), {}, {}, one_at_a_time);
    mail_client first(server.listener.local_address());
    first.begin({"held@mail.test"});
    std::deque<mail_client> others;
    for (int i = 0; i < 5; ++i)
        others.emplace_back(server.listener.local_address()).begin({"other@mail.test"});

    auto lock = std::make_unique<held_lock>(world.scratch.dsn(), row_of(held.id));
    send_whole_until_taken(first, "held");
    for (std::size_t i = 0; i < others.size(); ++i)
        send_whole_until_taken(others[i], std::to_string(i));
    CHECK(world.count("emails") == 0);

    lock.reset();
    CHECK(first.reply().starts_with("250 2.0.0"));
    for (auto& client : others)
        CHECK(client.reply().starts_with("250 2.0.0"));
    CHECK(world.count("emails WHERE inbox_id = '" + other.id.text() + "'") == 5);
    CHECK(world.count("emails WHERE inbox_id = '" + other.id.text() +
                      "' AND sequence = subject::int + 1") == 5);
}

TEST_CASE("a batch ends where all its messages hold, not their bodies alone, is enough",
          "[mail-ingest][postgres]")
{
    mailbox::seeds::world world;
    const auto account = mailbox::seeds::account();
    const auto held = world.create(account, "held");
    for (const char* name : {"one", "two", "three"})
        world.create(account, name);
    mail_ingest::ingest_settings small;
    small.group_commit.max_concurrent_commits = 1;
    small.group_commit.max_batch_bytes = 64 * 1024;
    mail_server server(world.scratch.dsn(), {}, {}, small);
    mail_client first(server.listener.local_address());
    first.begin({"held@mail.test"});
    std::deque<mail_client> others;
    for (int i = 0; i < 2; ++i)
        others.emplace_back(server.listener.local_address())
            .begin({"one@mail.test", "two@mail.test", "three@mail.test"});
    const auto batches = [] {
        const std::string name = "\ntempinbox_mail_ingest_batch_messages_count ";
        const auto text = testing::test_host().metrics().text();
        return std::stoi(text.substr(text.find(name) + name.size()));
    };
    const auto before = batches();

    auto lock = std::make_unique<held_lock>(world.scratch.dsn(), row_of(held.id));
    send_whole(first, "held");
    for (auto& client : others)
        send_whole(client, std::string(16 * 1024, 's'));
    // Both wait behind the first.
    CHECK_FALSE(testing::eventually([&] { return world.count("emails") > 0; },
                                    std::chrono::milliseconds(300)));

    lock.reset();
    CHECK(first.reply().starts_with("250 2.0.0"));
    for (auto& client : others)
        CHECK(client.reply().starts_with("250 2.0.0"));
    CHECK(batches() == before + 3);
}
