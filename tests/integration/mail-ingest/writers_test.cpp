#include "integration/mail-ingest/mail_server.hpp"

#include <catch2/catch.hpp>

#include <deque>

#include <pqxx/pqxx>

using namespace tempinbox;
using testing::mail_client;
using testing::mail_server;

namespace {

// An inbox's row, held by somebody else until it goes out of scope.
class row_lock
{
public:
    row_lock(const std::string& dsn, inbox_id inbox) : connection_(dsn), transaction_(connection_)
    {
        transaction_.exec("SELECT FROM mailbox.inboxes WHERE inbox_id = '" + inbox.text() + "' FOR UPDATE");
    }

private:
    pqxx::connection connection_;
    pqxx::work transaction_;
};

void send_whole(mail_client& client, const std::string& subject)
{
    REQUIRE(client.say("DATA").starts_with("354"));
    client.send("Subject: " + subject + "\r\n\r\nhello\r\n.\r\n");
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

    auto lock = std::make_unique<row_lock>(world.scratch.dsn(), held.id);
    send_whole(waiting, "held");
    CHECK(quick.deliver().starts_with("250 2.0.0"));
    CHECK(world.count("emails WHERE subject = 'held'") == 0);

    lock.reset();
    CHECK(waiting.reply().starts_with("250 2.0.0"));
}

TEST_CASE("what gathers behind a commit is stored in the order it came", "[mail-ingest][postgres]")
{
    mailbox::seeds::world world;
    const auto account = mailbox::seeds::account();
    const auto held = world.create(account, "held");
    const auto other = world.create(account, "other");
    mail_ingest::intake_settings one_at_a_time;
    one_at_a_time.writing.writers = 1;
    mail_server server(world.scratch.dsn(), {}, {}, one_at_a_time);
    mail_client first(server.listener.local_address());
    first.begin({"held@mail.test"});
    std::deque<mail_client> others;
    for (int i = 0; i < 5; ++i)
        others.emplace_back(server.listener.local_address()).begin({"other@mail.test"});

    auto lock = std::make_unique<row_lock>(world.scratch.dsn(), held.id);
    send_whole(first, "held");
    for (std::size_t i = 0; i < others.size(); ++i)
        send_whole(others[i], std::to_string(i));
    CHECK(world.count("emails") == 0);

    lock.reset();
    CHECK(first.reply().starts_with("250 2.0.0"));
    for (auto& client : others)
        CHECK(client.reply().starts_with("250 2.0.0"));
    CHECK(world.count("emails WHERE inbox_id = '" + other.id.text() + "'") == 5);
    CHECK(world.count("emails WHERE inbox_id = '" + other.id.text() + "' AND sequence = subject::int + 1") == 5);
}

TEST_CASE("a batch ends where all its messages hold, not their bodies alone, is enough", "[mail-ingest][postgres]")
{
    mailbox::seeds::world world;
    const auto account = mailbox::seeds::account();
    const auto held = world.create(account, "held");
    for (const char* name : {"one", "two", "three"})
        world.create(account, name);
    mail_ingest::intake_settings small;
    small.writing.writers = 1;
    small.writing.bytes_a_batch = 64 * 1024;
    mail_server server(world.scratch.dsn(), {}, {}, small);
    mail_client first(server.listener.local_address());
    first.begin({"held@mail.test"});
    std::deque<mail_client> others;
    for (int i = 0; i < 2; ++i)
        others.emplace_back(server.listener.local_address()).begin({"one@mail.test", "two@mail.test", "three@mail.test"});
    const auto batches = [] {
        const std::string name = "\ntempinbox_mail_ingest_batch_messages_count ";
        const auto text = testing::test_host().metrics().text();
        return std::stoi(text.substr(text.find(name) + name.size()));
    };
    const auto before = batches();

    auto lock = std::make_unique<row_lock>(world.scratch.dsn(), held.id);
    send_whole(first, "held");
    for (auto& client : others)
        send_whole(client, std::string(16 * 1024, 's'));
    // Both wait behind the first.
    CHECK_FALSE(testing::eventually([&] { return world.count("emails") > 0; }, std::chrono::milliseconds(300)));

    lock.reset();
    CHECK(first.reply().starts_with("250 2.0.0"));
    for (auto& client : others)
        CHECK(client.reply().starts_with("250 2.0.0"));
    CHECK(batches() == before + 3);
}
