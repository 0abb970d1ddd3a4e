#include "mailbox/inbox_change_store.hpp"

#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

// An inbox and what changes it.
struct changing : seeds::world
{
    inbox_change_store changes{scratch.db()};
    plans::account_state account = seeds::account();
    mailbox::inbox made = create(account, "ann");

    inbox_change wish()
    {
        inbox_change wanted;
        wanted.account = account;
        wanted.id = made.id;
        return wanted;
    }
    result<mailbox::inbox> change(inbox_change wanted)
    {
        return testing::await(changes.change(std::move(wanted), seeds::now()));
    }
    mailbox::inbox now() { return testing::await(inboxes.find(account.account, made.id)).value(); }
};

} // namespace

TEST_CASE("what is named is changed, the rest stays", "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto first = world.wish();
    first.name = "CI";
    first.tags = std::vector<std::string>{"a", "b"};
    first.metadata = {{"run", "7"}, {"branch", "main"}};
    world.change(first).value();

    auto second = world.wish();
    second.metadata = {{"run", std::nullopt}, {"try", "2"}};
    const auto changed = world.change(second).value();

    CHECK(changed.name == "CI");
    CHECK(changed.tags == std::vector<std::string>{"a", "b"});
    CHECK(changed.metadata == std::map<std::string, std::string>{{"branch", "main"}, {"try", "2"}});
    CHECK(changed.expires_at == world.made.expires_at);
    CHECK(world.now().metadata == changed.metadata);
}

TEST_CASE("name, tags and metadata can be taken away", "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto first = world.wish();
    first.name = "CI";
    first.tags = std::vector<std::string>{"a"};
    first.metadata = {{"run", "7"}};
    world.change(first).value();

    auto second = world.wish();
    second.name = "";
    second.tags.emplace();
    second.removes_all_metadata = true;
    const auto changed = world.change(second).value();

    CHECK_FALSE(changed.name);
    CHECK(changed.tags.empty());
    CHECK(changed.metadata.empty());
}

TEST_CASE("a new life counts from now, as often as wished, and the address lives as long",
          "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto wanted = world.wish();
    wanted.ttl = std::chrono::hours(48);
    world.change(wanted).value();

    const auto changed = world.change(wanted).value();

    const auto life = changed.expires_at - seeds::now();
    CHECK(life > std::chrono::hours(47));
    CHECK(life <= std::chrono::hours(48));
    CHECK(world.count("addresses WHERE address = 'ann@mail.test' AND until = mailbox.from_micros(" +
                      std::to_string(to_unix_micros(changed.expires_at)) + ")") == 1);
}

TEST_CASE("a life past the plan's longest is refused by the newest state of the account",
          "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto newer = world.account;
    newer.version = 2;
    newer.limits.max_ttl = std::chrono::hours(1);
    world.create(newer);
    auto wanted = world.wish();
    wanted.ttl = std::chrono::hours(2);
    wanted.name = "not this either";

    const auto refused = world.change(wanted);

    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::invalid_argument);
    CHECK(refused.error().message.find("ttlSeconds must be an integer from 60 to 3600") == 0);
    CHECK_FALSE(world.now().name);
}

TEST_CASE("an inbox has twenty pairs of metadata, merged ones counted",
          "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto many = world.wish();
    for (int i = 0; i < 20; ++i)
        many.metadata["key " + std::to_string(i)] = "x";
    world.change(many).value();
    auto one_more = world.wish();
    one_more.metadata = {{"another", "x"}};
    auto exchange = one_more;
    exchange.metadata["key 0"] = std::nullopt;

    CHECK(world.change(one_more).error().code == errc::invalid_argument);
    CHECK(world.change(exchange).value().metadata.size() == 20);
}

TEST_CASE("another account's inbox and an ended one cannot be changed",
          "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto foreign = world.wish();
    foreign.account = seeds::account();
    foreign.name = "mine";
    const auto refused = world.change(foreign);
    world.make_due();

    CHECK(refused.error().code == errc::not_found);
    CHECK(world.change(world.wish()).error().message == refused.error().message);
    CHECK_FALSE(world.now().name);
}
