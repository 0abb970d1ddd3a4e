#include "integration/mailbox/seeds.hpp"
#include "mailbox/purge_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

namespace {

new_rejection refuse(const inbox& box, const std::string& sender,
                     rejection_reason reason = rejection_reason::too_large)
{
    new_rejection one;
    one.account = box.account;
    one.inbox = box.id;
    one.reason = to_text(reason);
    one.mail_from = sender;
    one.reply = "552 5.3.4 Message is too large";
    one.first_at = one.last_at = seeds::now();
    return one;
}

std::vector<rejection> rejections_of(seeds::world& world, const inbox& box)
{
    return testing::await(world.inboxes.list_rejections(box.account, box.id)).value();
}

std::int64_t note(seeds::world& world, std::vector<new_rejection> batch)
{
    return testing::await(world.mail.note_rejections(std::move(batch)));
}

} // namespace

TEST_CASE("rejections are listed with all they have, the latest first", "[mailbox][postgres]")
{
    seeds::world world;
    const auto box = world.create(seeds::account());
    auto early = refuse(box, "early@x.test"), late = refuse(box, "", rejection_reason::over_rate);
    early.attempts = 7;
    early.first_at -= 2h;
    early.last_at -= 1h;
    late.reply = "450 4.2.1 Mailbox receives too much mail just now";

    CHECK(note(world, {early, late}) == 0);

    const auto found = rejections_of(world, box);
    REQUIRE(found.size() == 2);
    CHECK(found[0].reason == "over_rate");
    CHECK(found[0].mail_from.empty());
    CHECK(found[0].reply == late.reply);
    CHECK(found[0].attempts == 1);
    CHECK(found[1].reason == "too_large");
    CHECK(found[1].mail_from == "early@x.test");
    CHECK(found[1].attempts == 7);
    CHECK(to_unix_micros(found[1].first_at) == to_unix_micros(early.first_at));
    CHECK(to_unix_micros(found[1].last_at) == to_unix_micros(early.last_at));
}

TEST_CASE("a later batch is added to the rows that are there", "[mailbox][postgres]")
{
    seeds::world world;
    const auto box = world.create(seeds::account());
    auto first = refuse(box, "a@x.test"), second = refuse(box, "a@x.test");
    first.first_at -= 1min;
    first.last_at -= 1min;
    second.attempts = 4;
    second.reply = "550 5.3.4 Message is too large for this mailbox";

    note(world, {first});
    note(world, {second});

    const auto found = rejections_of(world, box);
    REQUIRE(found.size() == 1);
    CHECK(found[0].attempts == 5);
    CHECK(found[0].reply == second.reply);
    CHECK(to_unix_micros(found[0].first_at) == to_unix_micros(first.first_at));
    CHECK(to_unix_micros(found[0].last_at) == to_unix_micros(second.last_at));
}

TEST_CASE("an inbox has at most 100 rejections, the others are counted", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto box = world.create(account), other = world.create(account);
    const auto many = [&](int from, int to) {
        std::vector<new_rejection> batch;
        for (int i = from; i < to; ++i)
            batch.push_back(refuse(box, std::to_string(i) + "@x.test"));
        return batch;
    };
    CHECK(note(world, many(0, 60)) == 0);

    auto batch = many(50, 110); // 10 of them are there
    batch.back().attempts = 5;
    batch.back().first_at += 1s; // the last in order
    batch.push_back(refuse(other, "109@x.test"));
    const auto dropped = note(world, batch);

    CHECK(dropped == 9 + 5);
    CHECK(rejections_of(world, box).size() == 100);
    CHECK(rejections_of(world, other).size() == 1);
    CHECK(world.count("rejections WHERE attempts = 2") == 10);
    CHECK(note(world, many(0, 1)) == 0);
}

TEST_CASE("replicas that write at once cannot pass the limit of an inbox together",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto box = world.create(seeds::account());
    int done = 0;
    const auto write = [&](int replica) {
        std::vector<new_rejection> batch;
        for (int i = 0; i < 70; ++i)
            batch.push_back(refuse(box, std::to_string(1'000 * replica + i) + "@x.test"));
        boost::asio::co_spawn(testing::test_host().loop(),
                              world.mail.note_rejections(std::move(batch)),
                              [&done](std::exception_ptr error, std::int64_t) {
                                  if (!error)
                                      ++done;
                              });
    };

    for (int replica = 0; replica < 4; ++replica)
        write(replica);

    REQUIRE(testing::eventually([&] { return done == 4; }));
    CHECK(world.count("rejections") == 100);
}

TEST_CASE("nothing is recorded for what never was, is another's or ended a day ago",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto ended = world.create(account), long_ended = world.create(account);
    testing::await(world.endings.expire(account.account, ended.id)).value();
    testing::await(world.endings.expire(account.account, long_ended.id)).value();
    world.scratch.execute("UPDATE mailbox.inboxes SET expired_at = now() - interval '24 hours' "
                          "WHERE inbox_id = '" +
                          long_ended.id.text() + "'");
    inbox never;
    never.account = account.account;
    never.id = inbox_id::make();
    auto of_another = ended;
    of_another.account = account_id::make();
    const auto reason = rejection_reason::inbox_ended;

    const auto dropped =
        note(world, {refuse(ended, "a@x.test", reason), refuse(long_ended, "a@x.test", reason),
                     refuse(never, "a@x.test", reason), refuse(of_another, "b@x.test", reason)});

    CHECK(dropped == 0);
    CHECK(world.count("rejections") == 1);
    CHECK(rejections_of(world, ended).size() == 1);
    CHECK(rejections_of(world, long_ended).empty());
}

TEST_CASE("rejections of an inbox that is absent or another account's are not found",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto box = world.create(seeds::account());
    note(world, {refuse(box, "a@x.test")});

    const auto of_another =
        testing::await(world.inboxes.list_rejections(account_id::make(), box.id));
    const auto of_none =
        testing::await(world.inboxes.list_rejections(box.account, inbox_id::make()));

    CHECK(of_another.error().code == errc::not_found);
    CHECK(of_none.error().code == errc::not_found);
}

TEST_CASE("a day after its last attempt a rejection is no longer shown, and is purged",
          "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto box = world.create(seeds::account());
    note(world, {refuse(box, "old@x.test"), refuse(box, "new@x.test")});
    world.scratch.execute("UPDATE mailbox.rejections SET first_at = now() - interval '25 hours'");
    world.scratch.execute("UPDATE mailbox.rejections SET last_at = now() - interval '24 hours 1 "
                          "second' WHERE mail_from = 'old@x.test'");

    const auto shown = rejections_of(world, box);
    const auto batch = testing::await(purge.purge_inboxes(24h * 30));

    REQUIRE(shown.size() == 1);
    CHECK(shown[0].mail_from == "new@x.test");
    CHECK_FALSE(batch.is_full);
    CHECK(world.count("rejections") == 1);
    CHECK(world.count("rejections WHERE mail_from = 'new@x.test'") == 1);
}

TEST_CASE("old rejections are purged in batches", "[mailbox][postgres]")
{
    seeds::world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto box = world.create(seeds::account());
    note(world, {refuse(box, "a@x.test")});
    world.scratch.execute(
        "INSERT INTO mailbox.rejections (account_id, inbox_id, reason, mail_from, reply, "
        "attempts, first_at, last_at) SELECT account_id, inbox_id, reason, n::text, reply, 1, "
        "first_at, now() - interval '25 hours' FROM mailbox.rejections, generate_series(1, " +
        std::to_string(purge_repository::batch_size + 1) + ") AS n");

    CHECK(testing::await(purge.purge_inboxes(24h * 30)).is_full);
    CHECK(world.count("rejections") == 2);
    CHECK_FALSE(testing::await(purge.purge_inboxes(24h * 30)).is_full);
    CHECK(world.count("rejections") == 1);
}
