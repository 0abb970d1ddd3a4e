#include "common/rpc/timestamp.hpp"
#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

namespace {

awaitable<void> create_and_count(inbox_repository& inboxes, new_inbox requested, int& made,
                                 int& refused, int& ended)
{
    const auto created = co_await inboxes.create(std::move(requested), seeds::now());
    if (created)
        ++made;
    else if (created.error().code == errc::permission_denied ||
             created.error().code == errc::conflict)
        ++refused;
    ++ended;
}

} // namespace

TEST_CASE("a new inbox has a random address on the default domain, its plan's life and an event",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();

    const auto created = world.try_create(account).value();

    CHECK(created.inbox.address.ends_with("@mail.test"));
    CHECK(created.inbox.is_live);
    CHECK(created.inbox.expires_at - created.inbox.created_at == 24h);
    REQUIRE(created.events.size() == 2);
    CHECK(created.events[0].message.topic == "inbox.created");
    CHECK(created.events[0].message.key == created.inbox.id.text());
    CHECK(world.count("outbox WHERE event_id = '" + created.events[0].id.text() +
                      "' AND owner = 'test'") == 1);
}

TEST_CASE("a new inbox has a state with its address and times, and nothing that its user wrote",
          "[mailbox][inbox-state][postgres]")
{
    seeds::world world;
    new_inbox requested;
    requested.account = seeds::account();
    requested.id = inbox_id::make();
    requested.name = "secret name";
    requested.tags = {"secret tag"};
    requested.metadata = {{"key", "secret value"}};

    const auto created = testing::await(world.inboxes.create(requested, seeds::now())).value();

    const auto& row = created.events.at(1);
    CHECK(row.message.topic == "inbox.state");
    CHECK(row.sequence == 1);
    events::v1::InboxState state;
    REQUIRE(state.ParseFromString(row.message.value));
    CHECK(state.inbox_id() == created.inbox.id.text());
    CHECK(state.account_id() == requested.account.account.text());
    CHECK(state.email_address() == created.inbox.address);
    CHECK(state.status() == events::v1::INBOX_STATUS_ACTIVE);
    CHECK(rpc::to_time(state.created_at()) == created.inbox.created_at);
    CHECK(rpc::to_time(state.expires_at()) == created.inbox.expires_at);
    CHECK_FALSE(state.has_expired_at());
    CHECK(state.version() == 1);
    CHECK(row.message.value.find("secret") == std::string::npos);
}

TEST_CASE("what was asked for is kept and read back", "[mailbox][postgres]")
{
    seeds::world world;
    new_inbox requested;
    requested.account = seeds::account();
    requested.id = inbox_id::make();
    requested.local_part = "ann";
    requested.domain = "mail.test";
    requested.ttl = 90s;
    requested.name = "Ann's \"inbox\"";
    requested.tags = {"ci", "a,b{c}\\"};
    requested.metadata = {{"run", "17"}, {"käse", "ja \" \\"}};

    testing::await(world.inboxes.create(requested, seeds::now())).value();
    const auto found =
        testing::await(world.inboxes.find(requested.account.account, requested.id)).value();

    CHECK(found.address == "ann@mail.test");
    CHECK(found.expires_at - found.created_at == 90s);
    CHECK(found.name == requested.name);
    CHECK(found.tags == requested.tags);
    CHECK(found.metadata == requested.metadata);
    CHECK_FALSE(found.expired_at);
}

TEST_CASE("making an inbox again with its id answers the one made first and no event",
          "[mailbox][postgres]")
{
    seeds::world world;
    new_inbox requested;
    requested.account = seeds::account(1);
    requested.id = inbox_id::make();
    const auto first = testing::await(world.inboxes.create(requested, seeds::now())).value();

    const auto second = testing::await(world.inboxes.create(requested, seeds::now())).value();

    CHECK(second.inbox.address == first.inbox.address);
    CHECK(second.events.empty());
    CHECK(world.count("inboxes") == 1);
    CHECK(world.count("addresses") == 1);
    CHECK(world.count("outbox") == 2);
    CHECK(testing::await(world.inboxes.count_live(requested.account.account)) == 1);
}

TEST_CASE("a hundred calls at once with one id make one inbox", "[mailbox][postgres]")
{
    seeds::world world;
    new_inbox requested;
    requested.account = seeds::account();
    requested.id = inbox_id::make();
    int made = 0, refused = 0, ended = 0;

    for (int i = 0; i < 100; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              create_and_count(world.inboxes, requested, made, refused, ended),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return ended == 100; }));

    CHECK(made == 100);
    CHECK(world.count("inboxes") == 1);
    CHECK(world.count("addresses") == 1);
    CHECK(testing::await(world.inboxes.count_live(requested.account.account)) == 1);
}

TEST_CASE("of a hundred calls at once with one slot left exactly one passes", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(5);
    for (int i = 0; i < 4; ++i)
        world.create(account);
    int made = 0, refused = 0, ended = 0;

    for (int i = 0; i < 100; ++i) {
        new_inbox requested;
        requested.account = account;
        requested.id = inbox_id::make();
        boost::asio::co_spawn(testing::test_host().loop(),
                              create_and_count(world.inboxes, requested, made, refused, ended),
                              boost::asio::detached);
    }
    REQUIRE(testing::eventually([&] { return ended == 100; }));

    CHECK(made == 1);
    CHECK(refused == 99);
    CHECK(world.count("inboxes WHERE is_live") == 5);
    CHECK(world.count("addresses") == 5);
    CHECK(world.count("outbox WHERE topic = 'inbox.created'") == 5);
    CHECK(world.count("outbox WHERE topic = 'inbox.state'") == 5);
}

TEST_CASE(
    "the refusal at the limit names the call that frees a slot, and ending an inbox frees one",
    "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(1);
    const auto first = world.create(account);

    const auto refused = world.try_create(account);
    testing::await(world.endings.expire(account.account, first.id)).value();
    const auto second = world.try_create(account);

    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::permission_denied);
    CHECK(refused.error().message.find("DELETE /v1/inboxes/{inboxId}") != std::string::npos);
    CHECK(second);
}

TEST_CASE("an address that is taken, quarantined or reserved is refused with one text",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(), other = seeds::account();
    world.create(other, "taken");
    const auto quarantined = world.create(other, "quarantined");
    testing::await(world.endings.expire(other.account, quarantined.id)).value();

    for (const std::string local_part : {"taken", "quarantined", "postmaster"}) {
        const auto refused = world.try_create(account, local_part);

        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == errc::conflict);
        CHECK(refused.error().message ==
              "The address " + local_part + "@mail.test is not available");
    }
    CHECK(testing::await(world.inboxes.count_live(account.account)) == 0);
}

TEST_CASE("of the state in the call and the stored one the higher version holds",
          "[mailbox][postgres]")
{
    seeds::world world;
    auto account = seeds::account(1);
    account.version = 7;
    world.create(account);

    auto stale = account;
    stale.version = 6;
    stale.limits.live_inboxes = 100;
    const auto by_the_stale = world.try_create(stale);
    auto newer = account;
    newer.version = 8;
    newer.limits.live_inboxes = 2;
    const auto by_the_newer = world.try_create(newer);

    CHECK_FALSE(by_the_stale);
    CHECK(by_the_newer);
}

TEST_CASE("a plan that has ended counts as its limits after the end", "[mailbox][postgres]")
{
    seeds::world world;
    auto account = seeds::account(10);
    account.plan_ends_at = seeds::now() - 1s;
    account.limits_after_end.live_inboxes = 1;

    CHECK(world.try_create(account).value().inbox.expires_at <= seeds::now() + 1h + 1s);
    CHECK_FALSE(world.try_create(account));
}

TEST_CASE("a life outside the plan's names ttlSeconds, an unknown domain names domain",
          "[mailbox][postgres]")
{
    seeds::world world;
    new_inbox requested;
    requested.account = seeds::account();
    requested.id = inbox_id::make();

    requested.ttl = std::chrono::hours(24 * 7) + 1s;
    const auto too_long = testing::await(world.inboxes.create(requested, seeds::now()));
    requested.ttl.reset();
    requested.domain = "other.test";
    const auto other_domain = testing::await(world.inboxes.create(requested, seeds::now()));

    CHECK(too_long.error().message.starts_with("ttlSeconds "));
    CHECK(other_domain.error().message.starts_with("domain "));
    CHECK(world.count("addresses") == 0);
}

TEST_CASE("another account cannot see or end an inbox", "[mailbox][postgres]")
{
    seeds::world world;
    const auto alice = seeds::account(), bob = seeds::account();
    const auto hers = world.create(alice);

    CHECK(testing::await(world.inboxes.find(bob.account, hers.id)).error().code == errc::not_found);
    CHECK(testing::await(world.endings.expire(bob.account, hers.id)).error().code ==
          errc::not_found);
    inbox_filter by_address;
    by_address.address = hers.address;
    CHECK(
        testing::await(world.inboxes.list(bob.account, by_address, 25, "")).value().items.empty());
    CHECK(testing::await(world.inboxes.list(bob.account, inbox_filter(), 25, ""))
              .value()
              .items.empty());
    CHECK(testing::await(world.inboxes.find(alice.account, hers.id)).value().is_live);
}

TEST_CASE("an operator gets postmaster and abuse of a domain without end, once",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto owner = account_id::make();

    const auto first =
        testing::await(world.inboxes.create_operator_inboxes(owner, "mail.test")).value();
    const auto second =
        testing::await(world.inboxes.create_operator_inboxes(owner, "mail.test")).value();
    const auto by_another =
        testing::await(world.inboxes.create_operator_inboxes(account_id::make(), "mail.test"));

    REQUIRE(first.size() == 2);
    CHECK(first[0].inbox.address == "postmaster@mail.test");
    CHECK(first[1].inbox.address == "abuse@mail.test");
    CHECK(first[0].inbox.expires_at == endless);
    CHECK(second.empty());
    CHECK(by_another.error().code == errc::conflict);
}

TEST_CASE("the first domain is the default, and adding one again changes nothing",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto owner = account_id::make();

    CHECK_FALSE(testing::await(world.domains.add("another.test", owner)).value().is_default);
    CHECK(testing::await(world.domains.add("mail.test", std::nullopt)).value().is_default);
    CHECK(
        testing::await(world.domains.add("another.test", std::nullopt)).value().operator_account ==
        owner);
    const auto all = testing::await(world.domains.list());

    REQUIRE(all.size() == 2);
    CHECK(all[0].name == "mail.test");
    CHECK(all[1].name == "another.test");
}
