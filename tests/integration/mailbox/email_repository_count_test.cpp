#include "integration/mailbox/seeds.hpp"
#include "mailbox/email_repository.hpp"
#include "mailbox/purge_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

TEST_CASE("emails are counted by the day they came, also when they are gone", "[mailbox][postgres]")
{
    seeds::world world;
    email_repository emails(world.scratch.db());
    purge_repository purge(world.scratch.db(), "test");
    const auto account = seeds::account(), other = seeds::account();
    const auto ended = world.create(account), living = world.create(account),
               foreign = world.create(other);
    world.add_email({ended}, "one");
    world.add_email({ended}, "two");
    world.add_email({living}, "three");
    world.add_email({foreign}, "four");
    world.scratch.execute("INSERT INTO mailbox.deleted_emails (account_id, day, emails) VALUES ('" +
                          account.account.text() +
                          "', (now() AT TIME ZONE 'UTC')::date - 29, 5), ('" +
                          account.account.text() + "', (now() AT TIME ZONE 'UTC')::date - 30, 7)");

    testing::await(world.endings.expire(account.account, ended.id)).value();
    const auto before = testing::await(emails.count_by_day(account.account, 30));
    CHECK(testing::await(purge.purge_mail()).emails == 2);
    const auto after = testing::await(emails.count_by_day(account.account, 30));

    for (const auto& list : {before, after}) {
        REQUIRE(list.size() == 2);
        CHECK(list[0].number == 5);
        CHECK(list[1].number == 3);
        CHECK(list[1].day - list[0].day == std::chrono::days(29));
    }
    CHECK(testing::await(emails.count_by_day(other.account, 1)).front().number == 1);
}

TEST_CASE("emails of a tag are those that are stored in inboxes with it",
          "[mailbox][postgres][key-access]")
{
    seeds::world world;
    email_repository emails(world.scratch.db());
    const auto account = seeds::account(), other = seeds::account();
    const auto tagged = world.create_tagged(account, {"a", "ci"}), plain = world.create(account),
               foreign = world.create_tagged(other, {"ci"});
    world.add_emails(tagged, 2);
    world.add_emails(plain, 3);
    world.add_emails(foreign, 4);

    const auto counted = testing::await(emails.count_by_day(account.account, "ci", 30));

    REQUIRE(counted.size() == 1);
    CHECK(counted.front().number == 2);
    CHECK(testing::await(emails.count_by_day(account.account, "c", 30)).empty());
}
