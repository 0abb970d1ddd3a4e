#include "integration/mailbox/seeds.hpp"
#include "mailbox/purge_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

namespace {

awaitable<void> purge_once(purge_repository& store, int& done)
{
    co_await store.purge_mail();
    ++done;
}

} // namespace

TEST_CASE("the mail of an ended inbox is deleted, a living one's stays", "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto account = seeds::account();
    const auto ended = world.create(account), living = world.create(account);
    world.add_email({ended}, "one");
    world.add_email({ended}, "two");
    world.add_email({living}, "three");
    testing::await(world.endings.expire(account.account, ended.id)).value();

    const auto batch = testing::await(purge.purge_mail());

    CHECK(batch.emails == 2);
    CHECK(batch.bodies == 2);
    CHECK_FALSE(batch.is_full);
    CHECK(world.count("emails") == 1);
    CHECK(world.count("bodies") == 1);
    CHECK(world.count("inboxes WHERE has_mail_to_purge") == 0);
    CHECK(testing::await(purge.purge_mail()).emails == 0);
}

TEST_CASE("a body several inboxes of an account share goes with the last of its emails",
          "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto alice = seeds::account();
    const auto one = world.create(alice), other = world.create(alice);
    world.add_email({one, other}, "to both");

    testing::await(world.endings.expire(alice.account, one.id)).value();
    const auto first = testing::await(purge.purge_mail());
    const auto bodies_between = world.count("bodies");
    testing::await(world.endings.expire(alice.account, other.id)).value();
    const auto second = testing::await(purge.purge_mail());

    CHECK(first.emails == 1);
    CHECK(first.bodies == 0);
    CHECK(bodies_between == 1);
    CHECK(second.bodies == 1);
    CHECK(world.count("bodies") == 0);
}

TEST_CASE("each account has a body of its own of a mail to both", "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto alice = seeds::account(), bob = seeds::account();
    const auto hers = world.create(alice), his = world.create(bob);
    world.add_email({hers, his}, "to both");
    CHECK(world.count("bodies") == 2);

    testing::await(world.endings.expire(alice.account, hers.id)).value();
    const auto batch = testing::await(purge.purge_mail());

    CHECK(batch.bodies == 1);
    CHECK(world.count("bodies") == 1);
    CHECK(world.count("bodies WHERE account_id = '" + bob.account.text() + "'") == 1);
}

TEST_CASE("two that delete the last emails of a shared body at once leave no body behind",
          "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto account = seeds::account(300);
    for (int round = 0; round < 5; ++round) {
        // More inboxes than one batch claims, so that both have work.
        std::vector<inbox> many;
        for (int i = 0; i < 40; ++i)
            many.push_back(world.create(account));
        world.add_email(many, "to all");
        world.make_due();
        testing::await(world.endings.expire_due());
        world.scratch.execute(
            "UPDATE mailbox.inboxes SET has_mail_to_purge = true WHERE NOT is_live");
    }
    int done = 0;

    for (int i = 0; i < 6; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), purge_once(purge, done),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return done == 6; }));

    CHECK(world.count("emails") == 0);
    CHECK(world.count("bodies") == 0);
}

TEST_CASE("much mail is deleted in batches of bounded size", "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto account = seeds::account();
    const auto inbox = world.create(account);
    world.add_emails(inbox, 1'200);
    testing::await(world.endings.expire(account.account, inbox.id)).value();

    std::vector<std::int64_t> batches;
    for (bool is_full = true; is_full;) {
        const auto batch = testing::await(purge.purge_mail());
        batches.push_back(batch.emails);
        is_full = batch.is_full;
    }

    CHECK(batches == std::vector<std::int64_t>{500, 500, 200});
    CHECK(world.count("emails") == 0);
}

TEST_CASE("an ended inbox is purged when its time is over and its mail is gone",
          "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto account = seeds::account();
    const auto old = world.create(account), unpurged = world.create(account),
               recent = world.create(account), living = world.create(account);
    world.add_email({unpurged}, "mail");
    for (const auto& each : {old, unpurged, recent})
        testing::await(world.endings.expire(account.account, each.id)).value();
    world.scratch.execute(
        "UPDATE mailbox.inboxes SET expired_at = now() - interval '31 days' WHERE inbox_id IN ('" +
        old.id.text() + "', '" + unpurged.id.text() + "')");
    world.scratch.execute(
        "UPDATE mailbox.addresses SET until = now() - interval '1 day' WHERE inbox_id = '" +
        old.id.text() + "'");

    const auto batch = testing::await(purge.purge_inboxes(24h * 30));

    CHECK(batch.inboxes == 1);
    REQUIRE(batch.events.size() == 1);
    CHECK(batch.events[0].message.topic == "inbox.state");
    CHECK(batch.events[0].message.key == old.id.text());
    CHECK(batch.events[0].message.is_tombstone);
    CHECK(batch.events[0].sequence == 3); // made, ended, purged
    CHECK(world.count("outbox WHERE payload IS NULL AND owner = 'test'") == 1);
    CHECK(testing::await(world.inboxes.find(account.account, old.id)).error().code ==
          errc::not_found);
    CHECK(world.count("inboxes") == 3);
    CHECK(world.count("addresses WHERE inbox_id = '" + old.id.text() + "'") == 0);
    CHECK(world.count("addresses") == 3);
}

TEST_CASE("bodies of inboxes that ended by time are left to the partition of their hour, others go "
          "one by one",
          "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto account = seeds::account();
    const auto by_time = world.create(account), deleted = world.create(account),
               later = world.create(account), without_partition = world.create(account);
    const auto add = [&](const inbox& to, const std::string& hours) {
        const auto body = world.add_email({to}, "mail");
        for (const auto* table : {"emails", "bodies"})
            world.scratch.execute("UPDATE mailbox." + std::string(table) +
                                  " SET body_hour = date_trunc('hour', now() + interval '" + hours +
                                  " hours', 'UTC') WHERE body_id = '" + body.text() + "'");
        return body;
    };
    for (const auto* hour : {"0", "5"})
        world.scratch.execute("SELECT mailbox.ensure_body_hour(now() + interval '" +
                              std::string(hour) + " hours')");
    const auto left = add(by_time, "0");
    add(deleted, "0");
    add(later,
        "5"); // its inbox was to live longer: its partition would keep the body for five more hours
    add(without_partition, "-1");
    testing::await(world.endings.expire(account.account, deleted.id)).value();
    world.make_due();
    CHECK(testing::await(world.endings.expire_due()).ended.size() == 3);

    const auto batch = testing::await(purge.purge_mail());

    CHECK(batch.emails == 4);
    CHECK(batch.bodies == 3);
    CHECK(world.count("emails") == 0);
    CHECK(world.count("bodies") == 1);
    CHECK(world.count("bodies WHERE body_id = '" + left.text() + "'") == 1);
    CHECK(world.count("inboxes WHERE has_mail_to_purge") == 0);
}
