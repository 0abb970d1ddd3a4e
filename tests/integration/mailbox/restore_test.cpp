#include "mailbox/restore.hpp"

#include "integration/mailbox/seeds.hpp"
#include "mailbox/login_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using testing::await;

namespace {

constexpr const char* restore_id = "7000-2";
constexpr std::chrono::seconds quarantine = std::chrono::hours(1);

known_inbox known(const inbox& of)
{
    return {of.account, of.id, of.address};
}

known_inbox lost(const std::string& address)
{
    return {account_id::make(), inbox_id::make(), address};
}

} // namespace

TEST_CASE("a restore raises every sequence by a million, once", "[mailbox][postgres]")
{
    seeds::world world;
    const auto used = world.create(seeds::account());
    world.create(seeds::account());
    seeds::store_emails(world.mail, used, 2);

    for (int i = 0; i < 2; ++i) {
        const auto done = await(raise_sequences(world.scratch.db(), restore_id));
        CHECK(done.is_finished);
        CHECK(done.rows == 2);
    }

    CHECK(world.count("inboxes WHERE last_sequence = 1000000") == 1);
    CHECK(world.count("inboxes WHERE state_version = 1000001") == 2);
    seeds::store_emails(world.mail, used, 1);
    CHECK(world.count("emails WHERE sequence = 1000003") == 1);
}

TEST_CASE("raising goes on after the batches that are done", "[mailbox][postgres]")
{
    seeds::world world;
    world.scratch.execute("INSERT INTO mailbox.inboxes (account_id, inbox_id, email_address, "
                          "created_at, expires_at) SELECT gen_random_uuid(), gen_random_uuid(), n "
                          "|| '@mail.test', now(), now() FROM generate_series(1, 1500) AS n");

    CHECK_FALSE(await(raise_sequences(world.scratch.db(), restore_id)).is_finished);
    CHECK(await(raise_sequences(world.scratch.db(), restore_id)).is_finished);

    CHECK(world.count("inboxes WHERE last_sequence = 1000000") == 1'500);
}

TEST_CASE("a restore ends every login, once", "[mailbox][postgres]")
{
    seeds::world world;
    login_repository logins(world.scratch.db());
    auto account = seeds::account();
    account.limits.captures = 2;
    const auto make = [&](const std::string& digest) {
        return await(logins.create(account, world.create(account).id,
                                   {login_id::make(), std::string(32, digest[0])}, seeds::now()))
            .value()
            .user;
    };
    const auto user = make("a");
    auto& db = world.scratch.db();
    const auto before = await(logins.read_changes(std::nullopt)).version;
    REQUIRE(await(count_restored_logins(db)) == 1);

    const auto done = await(end_all_logins(db, restore_id));
    const auto later = make("b");

    CHECK(done.rows == 1);
    CHECK(done.is_finished);
    CHECK_FALSE(await(logins.find_by_user(user)).owner);
    CHECK(await(logins.read_changes(before)).accounts == std::vector{account.account});
    CHECK(await(end_all_logins(db, restore_id)).rows == 1);
    CHECK(await(logins.find_by_user(later)).owner);
}

TEST_CASE("addresses of inboxes that only Kafka knows are quarantined", "[mailbox][postgres]")
{
    seeds::world world;
    const auto live = world.create(seeds::account(), "taken");
    const auto gone = lost("gone@mail.test");
    auto& db = world.scratch.db();

    CHECK(await(find_lost_inboxes(db, {known(live), gone})) == std::vector{gone.id});
    CHECK(await(find_live_inboxes(db, {known(live), gone})) == std::vector{live.id});
    const auto done = await(quarantine_lost(db, restore_id, {known(live), gone}, quarantine, true));

    CHECK(done.rows == 1);
    CHECK(world.count(
              "addresses WHERE address = 'gone@mail.test' AND state = 'quarantined' AND "
              "until BETWEEN now() + interval '50 minutes' AND now() + interval '1 hour'") == 1);
    CHECK(world.count("addresses WHERE address = 'taken@mail.test' AND state = 'live'") == 1);
    CHECK_FALSE(world.try_create(seeds::account(), "gone"));
    CHECK(await(quarantine_lost(db, restore_id, {lost("late@mail.test")}, quarantine, true)).rows ==
          1); // the step is finished: nothing is added
    CHECK(world.count("addresses WHERE address = 'late@mail.test'") == 0);
}

TEST_CASE("the subdomain of a catch-all that only Kafka knows stays its account's",
          "[mailbox][catch-all][postgres]")
{
    seeds::world world;
    await(world.domains.set_subdomains("mail.test", true)).value();
    auto ann = seeds::account(), bob = seeds::account();
    ann.limits.catch_alls = bob.limits.catch_alls = 1;
    auto gone = lost("*@team.mail.test");
    gone.account = ann.account;
    const auto ask = [&](const plans::account_state& account) {
        new_inbox requested;
        requested.account = account;
        requested.id = inbox_id::make();
        requested.local_part = "*";
        requested.domain = "team.mail.test";
        return await(world.inboxes.create(requested, seeds::now()));
    };

    await(quarantine_lost(world.scratch.db(), restore_id, {gone}, quarantine, true));

    CHECK(ask(bob).error().reason == error_reason::address_taken);
    CHECK(world.count("subdomains WHERE domain = 'team.mail.test' AND live_inboxes = 0 AND until "
                      "BETWEEN now() + interval '50 minutes' AND now() + interval '1 hour'") == 1);
    CHECK(ask(ann));
}

TEST_CASE("inboxes that only Kafka knows leave the topic of states", "[mailbox][postgres]")
{
    seeds::world world;
    const auto live = world.create(seeds::account());
    const auto gone = lost("gone@mail.test");

    await(quarantine_lost(world.scratch.db(), restore_id, {known(live), gone}, quarantine, true));

    CHECK(world.count("outbox WHERE topic = 'inbox.state' AND payload IS NULL") == 1);
    CHECK(world.count("outbox WHERE payload IS NULL AND key = '" + gone.id.text() + "'") == 1);
}

TEST_CASE("a live inbox keeps an address that a lost inbox had", "[mailbox][postgres]")
{
    seeds::world world;
    world.create(seeds::account(), "taken");

    await(quarantine_lost(world.scratch.db(), restore_id, {lost("taken@mail.test")}, quarantine,
                          true));

    CHECK(world.count("addresses WHERE address = 'taken@mail.test' AND state = 'live'") == 1);
}
