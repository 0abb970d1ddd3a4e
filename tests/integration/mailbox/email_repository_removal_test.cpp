#include "mailbox/email_repository.hpp"

#include "integration/mailbox/seeds.hpp"
#include "mailbox/body_removal.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

struct removing : seeds::world
{
    email_repository emails{scratch.db()};
    plans::account_state account = seeds::account();

    email_id newest(const inbox& of)
    {
        return testing::await(emails.list(of.account, of.id, 1, "", 0)).value().items.at(0).id;
    }
};

} // namespace

TEST_CASE("an emptied inbox has no mail and no bodies, and its sequence goes on",
          "[mailbox][mail-removal][postgres]")
{
    removing world;
    const auto inbox = world.create(world.account), other = world.create(world.account);
    for (int i = 0; i < 3; ++i)
        world.add_email({inbox}, "mail");
    world.add_email({other}, "mail");

    const auto removed =
        testing::await(world.emails.empty_inbox(inbox.account, inbox.id, std::nullopt)).value();

    CHECK(removed.emails == 3);
    CHECK_FALSE(removed.is_full);
    CHECK(world.read(inbox).email_count == 0);
    CHECK(world.read(inbox).last_sequence == 3);
    CHECK(world.count("emails") == 1);
    CHECK(world.count("bodies") == 1);
    CHECK(world.read(other).email_count == 1);
}

TEST_CASE("an inbox is emptied in batches up to the mail there was at first",
          "[mailbox][mail-removal][postgres]")
{
    removing world;
    const auto inbox = world.create(world.account);
    world.add_emails(inbox, 700);

    const auto first =
        testing::await(world.emails.empty_inbox(inbox.account, inbox.id, std::nullopt)).value();
    world.add_email({inbox}, "came meanwhile");
    const auto second =
        testing::await(world.emails.empty_inbox(inbox.account, inbox.id, first.last_sequence))
            .value();

    CHECK(first.emails == 500);
    CHECK(first.is_full);
    CHECK(second.emails == 200);
    CHECK_FALSE(second.is_full);
    CHECK(world.read(inbox).email_count == 1);
}

TEST_CASE("a deleted email is gone with its body, a shared body only with the last",
          "[mailbox][mail-removal][postgres]")
{
    removing world;
    const auto first = world.create(world.account), second = world.create(world.account);
    world.add_email({first, second}, "to both");
    world.add_email({first}, "to one");

    testing::await(world.emails.remove(first.account, world.newest(first))).value();
    const auto bodies_with_shared = world.count("bodies");
    testing::await(world.emails.remove(first.account, world.newest(first))).value();
    const auto bodies_for_other = world.count("bodies");
    testing::await(world.emails.remove(second.account, world.newest(second))).value();

    CHECK(bodies_with_shared == 1);
    CHECK(bodies_for_other == 1);
    CHECK(world.count("bodies") == 0);
    CHECK(world.read(first).email_count == 0);
    CHECK(world.read(second).email_count == 0);
}

TEST_CASE("of a message to two accounts each one's body goes with its own email",
          "[mailbox][mail-removal][postgres]")
{
    removing world;
    const auto first = world.create(world.account), second = world.create(seeds::account());
    world.add_email({first, second}, "to both");

    testing::await(world.emails.remove(first.account, world.newest(first))).value();

    CHECK(world.count("bodies") == 1);
    const auto read = testing::await(world.emails.find(second.account, world.newest(second)));
    CHECK(world.count("bodies WHERE account_id = '" + second.account.text() + "'") == 1);
    CHECK(read.has_value());
    testing::await(world.emails.remove(second.account, world.newest(second))).value();
    CHECK(world.count("bodies") == 0);
}

TEST_CASE("nobody deletes another account's mail, or mail twice, or of an ended inbox",
          "[mailbox][mail-removal][postgres]")
{
    removing world;
    const auto inbox = world.create(world.account);
    const auto bob = account_id::make();
    world.add_email({inbox}, "mail");
    world.add_email({inbox}, "mail");
    const auto id = world.newest(inbox);

    CHECK(testing::await(world.emails.remove(bob, id)).error().code == errc::not_found);
    CHECK(testing::await(world.emails.empty_inbox(bob, inbox.id, std::nullopt)).error().code ==
          errc::not_found);
    CHECK(testing::await(world.emails.remove(inbox.account, id)).has_value());
    CHECK(testing::await(world.emails.remove(inbox.account, id)).error().code == errc::not_found);
    const auto left = world.newest(inbox);
    world.make_due();
    CHECK(testing::await(world.emails.remove(inbox.account, left)).error().code == errc::not_found);
    CHECK(testing::await(world.emails.empty_inbox(inbox.account, inbox.id, std::nullopt))
              .error()
              .code == errc::not_found);
}

TEST_CASE("a mark is kept, and only the owner sets it", "[mailbox][mail-removal][postgres]")
{
    removing world;
    const auto inbox = world.create(world.account);
    world.add_email({inbox}, "mail");
    const auto id = world.newest(inbox);

    CHECK(testing::await(world.emails.mark(inbox.account, id, true)).value().is_read);
    CHECK(testing::await(world.emails.find(inbox.account, id)).value().summary.is_read);
    CHECK(testing::await(world.emails.mark(account_id::make(), id, false)).error().code ==
          errc::not_found);
    CHECK_FALSE(testing::await(world.emails.mark(inbox.account, id, false)).value().is_read);
}

TEST_CASE("marks that come together are set as if one after the other",
          "[mailbox][mail-removal][together][postgres]")
{
    removing world;
    const auto inbox = world.create(world.account), other = world.create(world.account);
    world.add_email({inbox}, "mail");
    world.add_email({other}, "mail");
    const auto id = world.newest(inbox), second = world.newest(other);
    const auto version = [&] {
        return testing::await(world.emails.find_versions({{inbox.account, inbox.id}})).front();
    };
    const auto before = version();

    const auto marked = testing::await(world.emails.mark_all({{inbox.account, id, true},
                                                              {account_id::make(), second, true},
                                                              {other.account, second, true},
                                                              {inbox.account, id, false}}));

    REQUIRE(marked.size() == 4);
    CHECK(marked[0].value().is_read);
    CHECK(marked[0].value().id == id);
    CHECK(marked[1].error().code == errc::not_found);
    CHECK(marked[2].value().id == second);
    CHECK_FALSE(marked[3].value().is_read);
    CHECK_FALSE(testing::await(world.emails.find(inbox.account, id)).value().summary.is_read);
    CHECK(testing::await(world.emails.find(other.account, second)).value().summary.is_read);
    CHECK(version() != before); // a cached list is not right any more
}

TEST_CASE("emails that are deleted together go as if one after the other",
          "[mailbox][mail-removal][together][postgres]")
{
    removing world;
    const auto first = world.create(world.account), second = world.create(world.account);
    world.add_email({first, second}, "to both");
    world.add_email({first}, "to one");
    const auto lone = world.newest(first), shared = world.newest(second);
    const auto bob = account_id::make();

    const auto removed =
        testing::await(world.emails.remove_all({{first.account, lone},
                                                {second.account, shared},
                                                {bob, shared},
                                                {first.account, lone},
                                                {first.account, email_id::make()}}));

    REQUIRE(removed.size() == 5);
    CHECK(removed[0].has_value());
    CHECK(removed[1].has_value());
    for (const auto& refused : {removed[2], removed[3], removed[4]})
        CHECK(refused.error().code == errc::not_found);
    CHECK(world.read(first).email_count == 1);
    CHECK(world.read(second).email_count == 0);
    CHECK(world.count("bodies") == 1);
    CHECK(world.count("emails") == 1);
}

TEST_CASE("of emails that are deleted together those of a held inbox fail alone",
          "[mailbox][mail-removal][together][postgres]")
{
    removing world;
    const auto held = world.create(world.account), free = world.create(world.account);
    world.add_email({held}, "mail");
    world.add_email({free}, "mail");
    const auto stays = world.newest(held), goes = world.newest(free);
    pqxx::connection other(world.scratch.dsn());
    pqxx::work holding(other);
    holding.exec("SELECT FROM mailbox.inboxes WHERE inbox_id = '" + held.id.text() +
                 "' FOR UPDATE");

    const auto removed =
        testing::await(world.emails.remove_all({{held.account, stays}, {free.account, goes}}));
    const auto marked = testing::await(world.emails.mark_all({{held.account, stays, true}}));

    CHECK(removed.at(0).error().code == errc::unavailable);
    CHECK(removed.at(1).has_value());
    CHECK(marked.at(0).error().code == errc::unavailable);
    holding.abort();
    CHECK(world.count("emails") == 1);
}

TEST_CASE("deleting bodies locks the partitions of their hours alone",
          "[mailbox][mail-removal][postgres]")
{
    removing world;
    const auto inbox = world.create(world.account), other = world.create(world.account);
    world.add_email({inbox}, "mail");
    world.add_email({inbox, other}, "mail of two");
    world.scratch.execute("SELECT mailbox.ensure_body_hour(now() + n * interval '1 hour') FROM "
                          "generate_series(0, 30) AS n");

    // As remove() does, with a check of the locks before the end.
    const auto locked = testing::await(world.scratch.db().transact([&](pqxx::work& tx) {
        const auto deleted = tx.exec("DELETE FROM mailbox.emails RETURNING "
                                     "mailbox.to_micros(body_hour) AS body_micros, body_id, "
                                     "is_body_shared");
        const auto bodies = remove_bodies(tx, read_left_bodies(deleted));
        CHECK(bodies == 2);
        return tx
            .exec("SELECT count(DISTINCT l.relation) FROM pg_locks AS l JOIN pg_class AS c ON "
                  "c.oid = l.relation "
                  "WHERE l.pid = pg_backend_pid() AND c.relname ~ '^bodies_[0-9]+_[0-9]+$'")[0][0]
            .as<int>();
    }));

    CHECK(locked == 1);
}
