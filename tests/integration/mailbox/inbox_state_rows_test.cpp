#include "mailbox/inbox_state_rows.hpp"

#include "common/events/events.hpp"
#include "common/outbox/outbox_repository.hpp"
#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using testing::await;

namespace {

const outbox::row& state_in(const std::vector<outbox::row>& events)
{
    return *std::find_if(events.begin(), events.end(), [](const outbox::row& one) {
        return one.message.topic == events::topics::inbox_state;
    });
}

events::v1::InboxState read(const outbox::row& event)
{
    events::v1::InboxState state;
    state.ParseFromString(event.message.value);
    return state;
}

struct published_world : seeds::world
{
    // Rows are written by the owner "test" (seeds.hpp).
    outbox::outbox_repository outbox{scratch.db(), "mailbox", remover_of_published("test")};
    plans::account_state account = seeds::account();
    created_inbox made = try_create(account).value();

    std::vector<outbox::row> remove(const outbox::row& published)
    {
        return await(outbox.remove({published.id}, "test"));
    }
};

} // namespace

TEST_CASE("a state that was overtaken on its way is followed by the newest once more",
          "[mailbox][inbox-state][outbox][postgres]")
{
    published_world world;
    inbox_change extend;
    extend.account = world.account;
    extend.id = world.made.inbox.id;
    extend.ttl = 48h;
    const auto changed = await(world.inboxes.change(extend, seeds::now())).value();
    // Another process published the change first.
    CHECK(world.remove(state_in(changed.events)).empty());

    const auto again = world.remove(state_in(world.made.events));

    REQUIRE(again.size() == 1);
    CHECK(again[0].message.key == world.made.inbox.id.text());
    CHECK(again[0].message.value == state_in(changed.events).message.value);
    CHECK(again[0].sequence == 2);
    CHECK(world.count("outbox WHERE topic = 'inbox.state' AND owner = 'test'") == 1);
    CHECK(world.remove(again[0]).empty());
    CHECK(world.count("outbox WHERE topic = 'inbox.state'") == 0);
}

TEST_CASE("the state of an inbox that ended meanwhile is followed by its end",
          "[mailbox][inbox-state][outbox][postgres]")
{
    published_world world;
    const auto ended = await(world.endings.expire(world.account.account, world.made.inbox.id));

    const auto again = world.remove(state_in(world.made.events));

    REQUIRE(again.size() == 1);
    CHECK(again[0].message.value == state_in(ended.value().events).message.value);
    CHECK(read(again[0]).status() == events::v1::INBOX_STATUS_EXPIRED);
}

TEST_CASE("the state of an inbox that was purged meanwhile is followed by a tombstone",
          "[mailbox][inbox-state][outbox][postgres]")
{
    published_world world;
    world.scratch.execute("DELETE FROM mailbox.inboxes");

    const auto again = world.remove(state_in(world.made.events));

    REQUIRE(again.size() == 1);
    CHECK(again[0].message.is_tombstone);
    CHECK(again[0].message.key == world.made.inbox.id.text());
    CHECK(again[0].sequence == 2);
    CHECK(world.remove(again[0]).empty());
}

TEST_CASE("of states that are removed at once the newest is published again, too",
          "[mailbox][inbox-state][outbox][postgres]")
{
    published_world world;
    const auto ended = await(world.endings.expire(world.account.account, world.made.inbox.id));
    const auto newest = state_in(ended.value().events);

    const auto again =
        await(world.outbox.remove({newest.id, state_in(world.made.events).id}, "test"));

    REQUIRE(again.size() == 1);
    CHECK(again[0].message.value == newest.message.value);
}

TEST_CASE("a row that another process has claimed is left to that one",
          "[mailbox][inbox-state][outbox][postgres]")
{
    published_world world;
    await(world.endings.expire(world.account.account, world.made.inbox.id)).value();
    world.scratch.execute("UPDATE mailbox.outbox SET owner = 'other' WHERE topic = 'inbox.state'");

    CHECK(world.remove(state_in(world.made.events)).empty());

    CHECK(world.count("outbox WHERE topic = 'inbox.state'") == 2);
}

TEST_CASE("what nothing overtook is removed and no more",
          "[mailbox][inbox-state][outbox][postgres]")
{
    published_world world;

    CHECK(world.remove(state_in(world.made.events)).empty());
    for (const auto& event : world.made.events)
        CHECK(world.remove(event).empty());
    CHECK(world.count("outbox") == 0);
}
