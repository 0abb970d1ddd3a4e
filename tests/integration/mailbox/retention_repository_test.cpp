#include "mailbox/retention_repository.hpp"

#include "integration/mailbox/seeds.hpp"
#include "mailbox/email_repository.hpp"
#include "mailbox/login_repository.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using testing::await;

namespace {

constexpr std::chrono::seconds week = 24h * 7;

inbox_bounds of_emails(std::int64_t emails)
{
    inbox_bounds bounds;
    bounds.emails = emails;
    return bounds;
}

// Inboxes that hold little, as mail-ingest and inbox know it.
struct retention_world : seeds::world
{
    inbox_bounds bounds;
    ingest_repository store{testing::test_host(), scratch.db(), bounds};
    email_repository emails{scratch.db()};
    retention_repository retention{scratch.db()};
    plans::account_state account = with_captures();

    explicit retention_world(inbox_bounds chosen = {}) : bounds(chosen) {}

    static plans::account_state with_captures()
    {
        auto state = seeds::account(100);
        state.limits.captures = 10;
        return state;
    }

    inbox create_with(std::optional<retention_change> retained, bool is_capture = false)
    {
        new_inbox requested;
        requested.account = account;
        requested.id = inbox_id::make();
        requested.retention = retained;
        if (is_capture)
            requested.login = new_login{login_id::make(), crypto::sha256(requested.id.text())};
        return await(inboxes.create(requested, seeds::now())).value().inbox;
    }
    inbox create_dropping()
    {
        retention_change drops;
        drops.drops_oldest = true;
        return create_with(drops);
    }
    inbox create_aging(std::chrono::seconds max_age)
    {
        retention_change ages;
        ages.max_age = max_age;
        return create_with(ages);
    }

    delivery_status put(const inbox& to, const std::string& raw = "mail")
    {
        return await(store.store({seeds::make_message({to}, raw)})).at(0)->at(0).status;
    }

    // Trims until there is nothing left to do; what each transaction deleted.
    std::vector<std::int64_t> trim()
    {
        std::vector<std::int64_t> batches;
        for (bool is_full = true; is_full;) {
            const auto batch = await(retention.trim(bounds));
            is_full = batch.is_full;
            if (batch.emails > 0)
                batches.push_back(batch.emails);
        }
        return batches;
    }

    std::vector<std::int64_t> sequences(const inbox& of)
    {
        std::vector<std::int64_t> found;
        for (const auto& row : scratch.execute("SELECT sequence FROM mailbox.emails WHERE "
                                               "inbox_id = '" +
                                               of.id.text() + "' ORDER BY sequence"))
            found.push_back(row[0].as<std::int64_t>());
        return found;
    }

    // As if the inbox's emails up to a sequence had come earlier.
    void make_older(const inbox& of, std::int64_t up_to, const std::string& by)
    {
        scratch.execute("UPDATE mailbox.emails SET received_at = received_at - interval '" + by +
                        "' WHERE inbox_id = '" + of.id.text() +
                        "' AND sequence <= " + std::to_string(up_to));
    }
    void look_again() { scratch.execute("UPDATE mailbox.inboxes SET age_due_at = now()"); }

    double seconds_until_due(const inbox& of)
    {
        return scratch
            .execute("SELECT extract(epoch FROM age_due_at - now()) FROM mailbox.inboxes "
                     "WHERE inbox_id = '" +
                     of.id.text() + "'")[0][0]
            .as<double>();
    }
};

} // namespace

TEST_CASE("a capture keeps mail for a week and drops the oldest, another inbox as long as it lives",
          "[mailbox][retention][postgres]")
{
    retention_world world;
    retention_change age;
    age.max_age = 1h;

    const auto plain = world.create_with(std::nullopt);
    const auto capture = world.create_with(std::nullopt, true);
    const auto in_part = world.create_with(age, true);

    CHECK(plain.retention == retention_policy{});
    CHECK(capture.retention == retention_policy{week, true});
    CHECK(in_part.retention == retention_policy{1h, true});
    for (const auto& each : {plain, capture, in_part})
        CHECK(world.read(each).retention == each.retention);
}

TEST_CASE("an inbox that gets a login keeps mail as captures do, unless somebody chose",
          "[mailbox][retention][postgres]")
{
    retention_world world;
    login_repository logins(world.scratch.db());
    const auto plain = world.create_with(std::nullopt), chosen = world.create_aging(60s);

    for (const auto& each : {plain, chosen})
        await(logins.create(world.account, each.id,
                            {login_id::make(), crypto::sha256(each.id.text())}, seeds::now()))
            .value();

    CHECK(world.read(plain).retention == retention_policy{week, true});
    CHECK(world.read(chosen).retention == retention_policy{60s, false});
}

TEST_CASE("how mail is kept is changed in part, and back to what inboxes of its kind have",
          "[mailbox][retention][postgres]")
{
    retention_world world;
    const auto capture = world.create_with(std::nullopt, true);
    const auto change = [&](const retention_change& requested) {
        inbox_change changes;
        changes.account = world.account;
        changes.id = capture.id;
        changes.retention = requested;
        return await(world.inboxes.change(changes, seeds::now())).value();
    };
    retention_change no_age, refuses, reset;
    no_age.max_age = 0s;
    refuses.drops_oldest = false;
    reset.resets = true;

    const auto first = change(no_age), second = change(refuses);
    CHECK(first.inbox.retention == retention_policy{std::nullopt, true});
    CHECK(first.events.empty());
    CHECK(second.inbox.retention == retention_policy{std::nullopt, false});
    CHECK(change(reset).inbox.retention == retention_policy{week, true});
    CHECK(world.read(capture).expires_at == capture.expires_at);
}

TEST_CASE("at nine tenths the oldest mail goes until eight tenths are left",
          "[mailbox][retention][postgres]")
{
    retention_world world(of_emails(10));
    const auto box = world.create_dropping(), other = world.create_with(std::nullopt);
    world.trim();
    for (int i = 0; i < 8; ++i)
        world.put(box);
    CHECK(world.trim().empty());
    for (int i = 0; i < 10; ++i)
        world.put(other);

    world.put(box);
    const auto trimmed = world.trim();

    CHECK(trimmed == std::vector<std::int64_t>{1});
    CHECK(world.sequences(box) == std::vector<std::int64_t>{2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(world.read(box).email_count == 8);
    CHECK(world.read(box).last_sequence == 9);
    CHECK(world.count("bodies") == 18);
    CHECK(world.read(other).email_count == 10);
    CHECK(world.put(other) == delivery_status::full);
    CHECK(world.put(box) == delivery_status::stored);
    CHECK(world.read(box).last_sequence == 10);
}

TEST_CASE("an inbox past its bytes is trimmed, too", "[mailbox][retention][postgres]")
{
    inbox_bounds bounds;
    bounds.bytes = 1'000;
    retention_world world(bounds);
    const auto box = world.create_dropping();
    world.trim();

    for (int i = 0; i < 3; ++i)
        world.put(box, std::string(300, 'x'));
    world.trim();

    CHECK(world.sequences(box) == std::vector<std::int64_t>{2, 3});
    CHECK(world.read(box).email_bytes == 600);
}

TEST_CASE("what is full before it is trimmed refuses for a while, and never holds more",
          "[mailbox][retention][postgres]")
{
    retention_world world(of_emails(10));
    const auto box = world.create_dropping();

    std::vector<delivery_status> statuses;
    for (int i = 0; i < 11; ++i)
        statuses.push_back(world.put(box));

    CHECK(statuses.at(9) == delivery_status::stored);
    CHECK(statuses.at(10) == delivery_status::full_for_now);
    CHECK(world.read(box).email_count == 10);
    world.trim();
    CHECK(world.put(box) == delivery_status::stored);
    CHECK(world.sequences(box).back() == 11);
}

TEST_CASE("a full inbox of which no note is left is noted with the next refusal",
          "[mailbox][retention][postgres]")
{
    retention_world world(of_emails(10));
    const auto box = world.create_dropping(), refusing = world.create_with(std::nullopt);
    for (const auto& each : {box, refusing})
        for (int i = 0; i < 10; ++i)
            world.put(each);
    world.scratch.execute("UPDATE mailbox.inboxes SET needs_trim = false");

    std::vector<new_rejection> refused;
    for (const auto& each : {box, refusing}) {
        auto& added = refused.emplace_back();
        added.account = each.account;
        added.inbox = each.id;
        added.reason = to_text(rejection_reason::inbox_full);
        added.mail_from = "ann@sender.test";
        added.reply = "452";
        added.attempts = 1;
        added.first_at = added.last_at = seeds::now();
    }
    await(world.store.note_rejections(refused));

    CHECK(world.trim() == std::vector<std::int64_t>{2});
    CHECK(world.read(refusing).email_count == 10);
}

TEST_CASE("an inbox that shall drop its oldest mail is trimmed at once",
          "[mailbox][retention][postgres]")
{
    retention_world world(of_emails(10));
    const auto box = world.create_with(std::nullopt);
    for (int i = 0; i < 10; ++i)
        world.put(box);
    inbox_change change;
    change.account = world.account;
    change.id = box.id;
    change.retention.emplace().drops_oldest = true;

    await(world.inboxes.change(change, seeds::now())).value();

    CHECK(world.trim() == std::vector<std::int64_t>{2});
}

TEST_CASE("an inbox never holds more than ten thousand emails, and is trimmed in bounded steps",
          "[mailbox][retention][postgres]")
{
    retention_world world; // with the bound that ships
    const auto box = world.create_dropping();
    world.trim();
    world.add_emails(box, 10'000);

    CHECK(world.put(box) == delivery_status::full_for_now);
    CHECK(world.read(box).email_count == 10'000);
    CHECK(world.trim() == std::vector<std::int64_t>{500, 500, 500, 500});
    CHECK(world.read(box).email_count == 8'000);
    CHECK(world.put(box) == delivery_status::stored);
    CHECK(world.sequences(box).front() == 2'001);
    CHECK(world.sequences(box).back() == 10'001);

    world.add_emails(box, 1'200);
    CHECK(world.trim() == std::vector<std::int64_t>{500, 500, 201});
}

TEST_CASE("a list whose cursor points at trimmed mail goes on", "[mailbox][retention][postgres]")
{
    retention_world world(of_emails(10));
    const auto box = world.create_dropping();
    for (int i = 0; i < 10; ++i)
        world.put(box);
    email_query newest;
    newest.account = world.account.account;
    newest.inbox = box.id;
    newest.limit = 9;
    auto oldest = newest;
    oldest.order = list_order::oldest_first;
    oldest.limit = 1;
    const auto down = await(world.emails.list(newest)).value();
    const auto up = await(world.emails.list(oldest)).value();
    newest.cursor = down.next_cursor;
    oldest.cursor = up.next_cursor;
    REQUIRE(down.items.back().sequence == 2);
    REQUIRE(up.items.back().sequence == 1);

    world.trim();

    const auto below = await(world.emails.list(newest)).value();
    const auto above = await(world.emails.list(oldest)).value();
    CHECK(below.items.empty());
    CHECK(below.next_cursor.empty());
    REQUIRE(above.items.size() == 1);
    CHECK(above.items.front().sequence == 3);
    CHECK(down.version != below.version);
}

TEST_CASE("mail that is too old goes, and the inbox is looked at when the next one is",
          "[mailbox][retention][postgres]")
{
    retention_world world;
    const auto box = world.create_aging(1h), plain = world.create_with(std::nullopt);
    for (const auto& each : {box, plain}) {
        world.add_emails(each, 3);
        world.make_older(each, 2, "61 minutes");
    }

    const auto batch = await(world.retention.delete_old());

    CHECK(batch.emails == 2);
    CHECK_FALSE(batch.is_full);
    CHECK(world.sequences(box) == std::vector<std::int64_t>{3});
    CHECK(world.read(box).email_count == 1);
    CHECK(world.read(box).last_sequence == 3);
    CHECK(world.count("bodies") == 4);
    CHECK(world.sequences(plain).size() == 3);
    CHECK(world.seconds_until_due(box) > 3'500);
    CHECK(world.seconds_until_due(box) < 3'601);
    CHECK(await(world.retention.delete_old()).emails == 0);
}

TEST_CASE(
    "an inbox with mail that is almost too old is looked at once a minute, an empty one later",
    "[mailbox][retention][postgres]")
{
    retention_world world;
    const auto box = world.create_aging(24h), young = world.create_aging(60s),
               empty = world.create_aging(24h);
    world.add_emails(box, 1);
    world.make_older(box, 1, "23 hours 59 minutes 59 seconds");
    world.add_emails(young, 1);
    world.make_older(young, 1, "59 seconds");

    await(world.retention.delete_old());

    CHECK(world.seconds_until_due(box) > 50);
    CHECK(world.seconds_until_due(box) < 61);
    CHECK(world.seconds_until_due(young) < 7);
    CHECK(world.seconds_until_due(empty) > 86'000);
}

TEST_CASE("much old mail goes in transactions of bounded size", "[mailbox][retention][postgres]")
{
    retention_world world;
    const auto box = world.create_aging(1h);
    world.add_emails(box, 1'100);
    world.make_older(box, 1'050, "2 hours");

    std::vector<std::int64_t> batches;
    for (bool is_full = true; is_full;) {
        const auto batch = await(world.retention.delete_old());
        batches.push_back(batch.emails);
        is_full = batch.is_full;
    }

    CHECK(batches == std::vector<std::int64_t>{500, 500, 50});
    CHECK(world.read(box).email_count == 50);
}

TEST_CASE("an inbox that another process looks at is left to it", "[mailbox][retention][postgres]")
{
    retention_world world(of_emails(10));
    const auto held = world.create_dropping(), free = world.create_dropping();
    for (const auto& each : {held, free})
        for (int i = 0; i < 10; ++i)
            world.put(each);
    pqxx::connection connection(world.scratch.dsn());
    pqxx::work other(connection);
    other.exec("SELECT FROM mailbox.inboxes WHERE inbox_id = '" + held.id.text() + "' FOR UPDATE");

    CHECK(world.trim() == std::vector<std::int64_t>{2});
    CHECK(world.read(free).email_count == 8);
    CHECK(world.read(held).email_count == 10);
}

TEST_CASE("the mail of an ended inbox is left to the purge", "[mailbox][retention][postgres]")
{
    retention_world world(of_emails(10));
    const auto box = world.create_with(std::nullopt, true);
    for (int i = 0; i < 10; ++i)
        world.put(box);
    await(world.endings.expire(world.account.account, box.id)).value();
    world.look_again();

    CHECK(world.trim().empty());
    CHECK(await(world.retention.delete_old()).emails == 0);
}
