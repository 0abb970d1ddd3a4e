#include "mailbox/backfill.hpp"

#include "common/events/events.hpp"
#include "integration/mailbox/received_event.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <tuple>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using testing::await;

namespace {

constexpr time_point beginning{};

// All that a backfill reads, in batches of `limit`.
std::vector<outbox::row> read_all(seeds::world& world, const backfill& wanted,
                                  backfill_progress& progress, int limit = 100)
{
    std::vector<outbox::row> all;
    while (!progress.is_finished) {
        auto batch = await(read_backfill(world.scratch.db(), wanted, progress, limit));
        for (auto& one : batch.events)
            all.push_back(std::move(one));
        progress = batch.progress;
    }
    return all;
}

backfill_progress begin(seeds::world& world, const backfill& wanted, bool is_anew = false)
{
    return await(begin_backfill(world.scratch.db(), wanted, std::nullopt, is_anew)).value();
}

// Id, headers without the trace, and value.
using shown_event = std::tuple<std::string, kafka::header_list, std::string>;

shown_event show(outbox::row row)
{
    const auto id = row.id.text();
    auto message = events::make_backfill(std::move(row), "again");
    return {id, message.headers, message.value};
}

} // namespace

TEST_CASE("mail's events are made again with their id, time and value bytes",
          "[mailbox][backfill][postgres]")
{
    seeds::world world;
    const auto box = world.create(seeds::account());
    auto message = seeds::make_message({box}, "mail");
    auto& delivery = message->deliveries.front();
    delivery.rcpt_to = {"Ann+\"a, b\"@mail.test", box.address};
    seeds::make_received_event(*message);
    seeds::store(world.mail, {message});
    const auto stored = ingest_repository::event_of(delivery, 1);
    const backfill wanted{"email.received", "again", beginning};
    auto progress = begin(world, wanted);

    const auto again = read_all(world, wanted, progress);

    REQUIRE(again.size() == 1);
    CHECK(show(again[0]) == show(stored));
    CHECK(again[0].message.key == stored.message.key);
}

TEST_CASE("events of inboxes are made again as they were first published",
          "[mailbox][backfill][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto made = world.try_create(account).value();
    inbox_change extend;
    extend.account = account;
    extend.id = made.inbox.id;
    extend.ttl = 48h;
    await(world.inboxes.change(extend, seeds::now())).value();
    const auto ended = await(world.endings.expire(account.account, made.inbox.id)).value();
    const backfill created{"inbox.created", "again", beginning};
    const backfill expired{"inbox.expired", "again", beginning};
    auto from = begin(world, created), to = begin(world, expired);

    const auto created_again = read_all(world, created, from);
    const auto expired_again = read_all(world, expired, to);

    REQUIRE(created_again.size() == 1);
    CHECK(show(created_again[0]) == show(made.events[0]));
    REQUIRE(expired_again.size() == 1);
    CHECK(show(expired_again[0]) == show(ended.events[0]));
}

TEST_CASE("inboxes of an earlier release are counted and skipped", "[mailbox][backfill][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto old = world.create(account);
    world.create(account);
    await(world.endings.expire(account.account, old.id)).value();
    world.scratch.execute("UPDATE mailbox.inboxes SET created_event_id = NULL, expired_event_id = "
                          "NULL, first_expires_at = NULL WHERE inbox_id = '" +
                          old.id.text() + "'");

    for (const auto* type : {"inbox.created", "inbox.expired"}) {
        const backfill wanted{type, "again", beginning};
        auto progress = begin(world, wanted);
        const auto again = read_all(world, wanted, progress);
        CHECK(progress.skipped == 1);
        CHECK(again.size() == (type == std::string("inbox.created") ? 1 : 0));
    }
    const backfill states{"inbox.state", "inbox.state", beginning};
    auto progress = begin(world, states);
    CHECK(read_all(world, states, progress).size() == 2);
    CHECK(progress.skipped == 0);
}

TEST_CASE("states are those of now, of living and of ended inboxes",
          "[mailbox][backfill][inbox-state][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto living = world.create(account), ended = world.create(account);
    const auto end = await(world.endings.expire(account.account, ended.id)).value();
    const backfill wanted{"inbox.state", "inbox.state", beginning};
    auto progress = begin(world, wanted);

    const auto again = read_all(world, wanted, progress);

    REQUIRE(again.size() == 2);
    for (const auto& row : again) {
        events::v1::InboxState state;
        REQUIRE(state.ParseFromString(row.message.value));
        const bool is_ended = state.inbox_id() == ended.id.text();
        CHECK((is_ended || state.inbox_id() == living.id.text()));
        CHECK(state.version() == (is_ended ? 2 : 1));
        if (is_ended)
            CHECK(row.message.value == end.events[1].message.value);
    }
}

TEST_CASE("a backfill takes the events of its time only", "[mailbox][backfill][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto early = world.create(account), late = world.create(account);
    world.scratch.execute("UPDATE mailbox.inboxes SET created_at = now() - interval '2 days' "
                          "WHERE inbox_id = '" +
                          early.id.text() + "'");
    const auto yesterday = seeds::now() - 24h;
    const backfill recent{"inbox.created", "again", yesterday};
    auto progress = begin(world, recent);

    const auto again = read_all(world, recent, progress);
    const backfill all{"inbox.created", "again", beginning};
    auto before = await(begin_backfill(world.scratch.db(), all, yesterday, false)).value();
    const auto earlier = read_all(world, all, before);

    REQUIRE(again.size() == 1);
    CHECK(again[0].message.key == late.id.text());
    REQUIRE(earlier.size() == 1);
    CHECK(earlier[0].message.key == early.id.text());
}

TEST_CASE("a backfill goes on where it stopped, and begins anew on request",
          "[mailbox][backfill][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    for (int i = 0; i < 5; ++i)
        world.create(account);
    const backfill wanted{"inbox.created", "again", beginning};
    const auto first = begin(world, wanted);
    const auto batch = await(read_backfill(world.scratch.db(), wanted, first, 2));
    await(save_backfill(world.scratch.db(), wanted, batch.progress));

    auto progress = begin(world, wanted);
    CHECK(progress.written == 2);
    CHECK(progress.until == first.until);
    auto rest = read_all(world, wanted, progress, 2);
    await(save_backfill(world.scratch.db(), wanted, progress));

    std::set<std::string> ids;
    for (const auto* part : {&batch.events, &std::as_const(rest)})
        for (const auto& row : *part)
            ids.insert(row.id.text());
    CHECK(rest.size() == 3);
    CHECK(ids.size() == 5);
    const auto finished = begin(world, wanted);
    CHECK(finished.is_finished);
    CHECK(finished.written == 5);
    CHECK(
        await(begin_backfill(world.scratch.db(), wanted, seeds::now() + 1h, false)).error().code ==
        errc::conflict);
    const auto anew = begin(world, wanted, true);
    CHECK_FALSE(anew.is_finished);
    CHECK(anew.written == 0);
    CHECK(anew.position.empty());
}
