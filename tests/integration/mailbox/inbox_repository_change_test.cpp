#include "mailbox/inbox_repository.hpp"

#include "common/rpc/timestamp.hpp"
#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

// An inbox to change.
struct changing : seeds::world
{
    plans::account_state account = seeds::account();
    mailbox::inbox made = create(account, "ann");
    std::vector<outbox::row> events; // of the last change

    inbox_change make_change()
    {
        inbox_change requested;
        requested.account = account;
        requested.id = made.id;
        return requested;
    }
    result<mailbox::inbox> change(inbox_change requested)
    {
        auto changed = testing::await(inboxes.change(std::move(requested), seeds::now()));
        if (!changed)
            return changed.error();
        events = std::move(changed->events);
        return std::move(changed->inbox);
    }
    mailbox::inbox now() { return testing::await(inboxes.find(account.account, made.id)).value(); }
};

} // namespace

TEST_CASE("what is named is changed, the rest stays", "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto first = world.make_change();
    first.name = "CI";
    first.tags = std::vector<std::string>{"a", "b"};
    first.metadata = {{"run", "7"}, {"branch", "main"}};
    world.change(first).value();

    auto second = world.make_change();
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
    auto first = world.make_change();
    first.name = "CI";
    first.tags = std::vector<std::string>{"a"};
    first.metadata = {{"run", "7"}};
    world.change(first).value();

    auto second = world.make_change();
    second.name = "";
    second.tags.emplace();
    second.removes_all_metadata = true;
    const auto changed = world.change(second).value();

    CHECK_FALSE(changed.name);
    CHECK(changed.tags.empty());
    CHECK(changed.metadata.empty());
}

TEST_CASE("a new TTL counts from now, any number of times, and the address lives as long",
          "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto requested = world.make_change();
    requested.ttl = std::chrono::hours(48);
    world.change(requested).value();

    const auto changed = world.change(requested).value();

    const auto life = changed.expires_at - seeds::now();
    CHECK(life > std::chrono::hours(47));
    CHECK(life <= std::chrono::hours(48));
    CHECK(world.count("addresses WHERE address = 'ann@mail.test' AND until = mailbox.from_micros(" +
                      std::to_string(to_unix_micros(changed.expires_at)) + ")") == 1);
}

TEST_CASE("a new TTL is a new state with a higher version; a new name is none",
          "[mailbox][inbox-change][inbox-state][postgres]")
{
    changing world;
    auto renamed = world.make_change();
    renamed.name = "CI";
    world.change(renamed).value();
    CHECK(world.events.empty());
    auto extended = world.make_change();
    extended.ttl = std::chrono::hours(48);

    const auto changed = world.change(extended).value();

    REQUIRE(world.events.size() == 1);
    events::v1::InboxState state;
    REQUIRE(state.ParseFromString(world.events[0].message.value));
    CHECK(state.version() == 2);
    CHECK(state.status() == events::v1::INBOX_STATUS_ACTIVE);
    CHECK(rpc::to_time(state.expires_at()) == changed.expires_at);
    CHECK(world.count("outbox WHERE topic = 'inbox.state' AND sequence = 2") == 1);
}

TEST_CASE("a life past the plan's longest is refused by the newest state of the account",
          "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto newer = world.account;
    newer.version = 2;
    newer.limits.max_ttl = std::chrono::hours(1);
    world.create(newer);
    auto requested = world.make_change();
    requested.ttl = std::chrono::hours(2);
    requested.name = "not this either";

    const auto refused = world.change(requested);

    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::invalid_argument);
    CHECK(refused.error().message.find("ttlSeconds must be an integer from 60 to 3600") == 0);
    CHECK_FALSE(world.now().name);
}

TEST_CASE("an inbox has twenty pairs of metadata, merged ones counted",
          "[mailbox][inbox-change][postgres]")
{
    changing world;
    auto many = world.make_change();
    for (int i = 0; i < 20; ++i)
        many.metadata["key " + std::to_string(i)] = "x";
    world.change(many).value();
    auto one_more = world.make_change();
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
    auto foreign = world.make_change();
    foreign.account = seeds::account();
    foreign.name = "mine";
    const auto refused = world.change(foreign);
    world.make_due();

    CHECK(refused.error().code == errc::not_found);
    CHECK(world.change(world.make_change()).error().message == refused.error().message);
    CHECK_FALSE(world.now().name);
}
