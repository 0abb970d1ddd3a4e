#include "integration/mailbox/seeds.hpp"
#include "mailbox/email_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

std::vector<std::int64_t> sequences_of(const page<email_summary>& listed)
{
    std::vector<std::int64_t> sequences;
    for (const auto& each : listed.items)
        sequences.push_back(each.sequence);
    return sequences;
}

using numbers = std::vector<std::int64_t>;

} // namespace

TEST_CASE("an email is read back whole", "[mailbox][postgres]")
{
    seeds::world world;
    email_repository emails(world.scratch.db());
    const auto account = seeds::account();
    const auto inbox = world.create(account, "ann");
    const std::string raw =
        "Subject: hi\r\n\r\n" + std::string(100'000, 'x') + std::string("\0\xff", 2);
    world.add_email({inbox}, raw);
    const auto listed = testing::await(emails.list(account.account, inbox.id, 25, "", 0)).value();
    REQUIRE(listed.items.size() == 1);

    const auto found = testing::await(emails.find(account.account, listed.items[0].id)).value();

    CHECK(found.raw == raw);
    CHECK(found.summary.inbox == inbox.id);
    CHECK(found.summary.sequence == 1);
    CHECK(found.summary.from == "ann@example.org");
    CHECK(found.summary.rcpt_to == std::vector<std::string>{"ann@mail.test"});
    REQUIRE(found.summary.codes.size() == 1);
    CHECK(found.summary.codes[0].value == "123456");
    CHECK(found.summary.codes[0].score == 1);
    REQUIRE(found.links.size() == 1);
    CHECK(found.links[0].kind == "verify");
    CHECK(found.tls == "TLSv1.3");
    CHECK(found.defects == std::vector<std::string>{"bare_newline"});
}

TEST_CASE("emails are listed newest first, page by page, and stay right while others come and go",
          "[mailbox][postgres]")
{
    seeds::world world;
    email_repository emails(world.scratch.db());
    const auto account = seeds::account();
    const auto inbox = world.create(account);
    for (int i = 0; i < 6; ++i)
        world.add_email({inbox}, "mail");

    const auto first = testing::await(emails.list(account.account, inbox.id, 2, "", 0)).value();
    world.add_email({inbox}, "newer");
    world.scratch.execute("DELETE FROM mailbox.emails WHERE sequence IN (5, 3)");
    const auto second =
        testing::await(emails.list(account.account, inbox.id, 2, first.next_cursor, 0)).value();
    const auto third =
        testing::await(emails.list(account.account, inbox.id, 2, second.next_cursor, 0)).value();

    CHECK(sequences_of(first) == numbers{6, 5});
    CHECK(sequences_of(second) == numbers{4, 2});
    CHECK(sequences_of(third) == numbers{1});
    CHECK(third.next_cursor.empty());
}

TEST_CASE("only emails above a sequence are listed, and a cursor belongs to that sequence",
          "[mailbox][postgres]")
{
    seeds::world world;
    email_repository emails(world.scratch.db());
    const auto account = seeds::account();
    const auto inbox = world.create(account);
    for (int i = 0; i < 5; ++i)
        world.add_email({inbox}, "mail");

    const auto above = testing::await(emails.list(account.account, inbox.id, 2, "", 2)).value();

    CHECK(sequences_of(above) == numbers{5, 4});
    CHECK(
        sequences_of(testing::await(emails.list(account.account, inbox.id, 2, above.next_cursor, 2))
                         .value()) == numbers{3});
    CHECK(testing::await(emails.list(account.account, inbox.id, 2, above.next_cursor, 0))
              .error()
              .code == errc::invalid_argument);
}

TEST_CASE("another account's mail and the mail of an ended inbox do not exist",
          "[mailbox][postgres]")
{
    seeds::world world;
    email_repository emails(world.scratch.db());
    const auto alice = seeds::account(), bob = seeds::account();
    const auto inbox = world.create(alice);
    world.add_email({inbox}, "mail");
    const auto id =
        testing::await(emails.list(alice.account, inbox.id, 25, "", 0)).value().items.at(0).id;

    CHECK(testing::await(emails.list(bob.account, inbox.id, 25, "", 0)).error().code ==
          errc::not_found);
    CHECK(testing::await(emails.find(bob.account, id)).error().code == errc::not_found);
    world.make_due();
    CHECK(testing::await(emails.list(alice.account, inbox.id, 25, "", 0)).error().code ==
          errc::not_found);
    CHECK(testing::await(emails.find(alice.account, id)).error().code == errc::not_found);
}

TEST_CASE("how an email came is found, with its commit while its event waits to be published",
          "[mailbox][postgres]")
{
    seeds::world world;
    email_repository emails(world.scratch.db());
    const auto alice = seeds::account(), bob = seeds::account();
    const auto inbox = world.create(alice, "ann");
    const auto message = seeds::make_message({inbox}, "mail");
    seeds::store(world.mail, {message});
    const auto id = message->deliveries.front().id;

    const auto waiting = testing::await(emails.find_arrival(alice.account, id)).value();
    world.scratch.execute("DELETE FROM mailbox.outbox WHERE event_id = '" + id.text() + "'");
    const auto published = testing::await(emails.find_arrival(alice.account, id)).value();

    CHECK(waiting.inbox == inbox.id);
    CHECK(to_unix_micros(waiting.received_at) == to_unix_micros(message->received_at));
    CHECK(waiting.size == 4);
    CHECK(waiting.rcpt_to == std::vector<std::string>{"ann@mail.test"});
    CHECK(waiting.mail_from == "bounce@example.org");
    CHECK(waiting.remote_address == "192.0.2.1");
    CHECK(waiting.helo == "mx.example.org");
    CHECK(waiting.tls == "TLSv1.3");
    REQUIRE(waiting.unpublished_since);
    CHECK(std::chrono::abs(*waiting.unpublished_since - message->received_at) <
          std::chrono::minutes(1));
    CHECK_FALSE(published.unpublished_since);

    CHECK(testing::await(emails.find_arrival(bob.account, id)).error().code == errc::not_found);
    CHECK(testing::await(emails.find_arrival(alice.account, email_id::make())).error().code ==
          errc::not_found);
    world.make_due();
    CHECK(testing::await(emails.find_arrival(alice.account, id)).error().code == errc::not_found);
}
