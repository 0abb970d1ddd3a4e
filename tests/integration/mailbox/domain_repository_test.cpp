#include "integration/mailbox/seeds.hpp"
#include "mailbox/domain_repository.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace tempinbox;
using namespace tempinbox::mailbox;

TEST_CASE("addresses are looked up in a batch, live ones with their owner's limits",
          "[mailbox][address-store][postgres]")
{
    seeds::world world;
    domain_repository addresses(world.scratch.db());
    auto account = seeds::account();
    account.limits.max_message_bytes = 12'345;
    const auto live = world.create(account, "live");
    const auto ended = world.create(account, "ended");
    const auto due = world.create(account, "due");
    testing::await(world.endings.expire(account.account, ended.id));
    world.scratch.execute("UPDATE mailbox.addresses SET until = now() - interval '1 s' WHERE "
                          "address = 'due@mail.test'");
    world.scratch.execute(
        "UPDATE mailbox.inboxes SET email_count = 3, email_bytes = 99 WHERE inbox_id = '" +
        live.id.text() + "'");

    const auto found = testing::await(
        addresses.find_addresses({"live@mail.test", "ended@mail.test", "due@mail.test",
                                  "never@mail.test", "o'dd\"{},\\@mail.test"}));

    std::map<std::string, known_address> by_name;
    for (const auto& one : found)
        by_name[one.address] = one;
    REQUIRE(by_name.size() == 3);
    const auto& known = by_name.at("live@mail.test");
    CHECK(known.is_live);
    CHECK(known.account == account.account);
    CHECK(known.inbox == live.id);
    CHECK(known.until == live.expires_at);
    REQUIRE(known.owner);
    CHECK(known.owner->limits.max_message_bytes == 12'345);
    CHECK(known.email_count == 3);
    CHECK(known.email_bytes == 99);
    CHECK_FALSE(by_name.at("ended@mail.test").is_live);
    CHECK_FALSE(by_name.at("due@mail.test").is_live);
}

TEST_CASE("no addresses, no answers", "[mailbox][address-store][postgres]")
{
    seeds::world world;
    domain_repository addresses(world.scratch.db());

    CHECK(testing::await(addresses.find_addresses({"nobody@mail.test"})).empty());
}
