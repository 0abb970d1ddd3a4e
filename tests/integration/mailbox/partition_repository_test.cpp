#include "integration/mailbox/seeds.hpp"
#include "mailbox/email_repository.hpp"
#include "mailbox/inbox_repository.hpp"
#include "mailbox/partition_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

namespace {

std::int64_t partitions_like(seeds::world& world, const std::string& pattern)
{
    return world.scratch
        .execute("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '" + pattern +
                 "'")[0][0]
        .as<std::int64_t>();
}

} // namespace

TEST_CASE("the next hours and every hour in which an inbox ends get a partition",
          "[mailbox][postgres]")
{
    seeds::world world;
    partition_repository partitions(world.scratch.db());
    const auto account = seeds::account();
    const auto inbox = world.create(account);
    world.scratch.execute("UPDATE mailbox.inboxes SET expires_at = date_trunc('hour', now(), "
                          "'UTC') + interval '100 hours 5 minutes'");
    testing::await(world.inboxes.create_operator_inboxes(account_id::make(), "mail.test")).value();

    const auto missing = testing::await(partitions.missing_body_hours(2));
    for (const auto hour : missing)
        testing::await(partitions.ensure_body_hour(hour));

    REQUIRE(missing.size() == 4);
    CHECK(missing[0] == std::chrono::floor<std::chrono::hours>(seeds::now()));
    CHECK(missing[3] - missing[0] == 100h);
    CHECK(testing::await(partitions.missing_body_hours(2)).empty());
    CHECK(partitions_like(world, "^bodies_[0-9]{8}_[0-9]{2}$") == 4);
}

TEST_CASE("the days ahead get a partition once", "[mailbox][postgres]")
{
    seeds::world world;
    partition_repository partitions(world.scratch.db());

    testing::await(partitions.ensure_email_days(5));
    testing::await(partitions.ensure_email_days(5));

    CHECK(partitions_like(world, "^emails_[0-9]{8}$") == 6);
}

TEST_CASE("rows that came before their partition are moved into it", "[mailbox][postgres]")
{
    seeds::world world;
    partition_repository partitions(world.scratch.db());
    const auto account = seeds::account();
    const auto inbox = world.create(account);
    world.add_email({inbox}, "early");
    REQUIRE(world.count("bodies_default") == 1);

    testing::await(partitions.ensure_body_hour(inbox.expires_at));

    CHECK(world.count("bodies_default") == 0);
    CHECK(world.count("bodies") == 1);
}

TEST_CASE("a past day is dropped when it is empty, a past hour with the bodies that nobody needs",
          "[mailbox][postgres]")
{
    seeds::world world;
    partition_repository partitions(world.scratch.db());
    const auto past_hour = seeds::now() - 50h;
    testing::await(partitions.ensure_body_hour(past_hour));
    testing::await(partitions.ensure_body_hour(seeds::now() + 1h));
    world.add_bodies(past_hour);
    world.scratch.execute("SELECT mailbox.ensure_email_day((now() AT TIME ZONE 'UTC')::date - 5)");

    auto old = seeds::make_message({world.create(seeds::account())}, "mail");
    old->deliveries.front().id =
        email_id::parse(
            world.scratch.execute("SELECT mailbox.lowest_uuid(now() - interval '5 days')")[0][0]
                .c_str())
            .value();
    seeds::store(world.mail, {old});

    const auto past = testing::await(partitions.past_partitions());

    REQUIRE(past.size() == 2);
    REQUIRE(past[0].hour == std::chrono::floor<std::chrono::hours>(seeds::now() - 50h));
    CHECK(past[0].is_overdue);
    CHECK_FALSE(past[1].hour);
    CHECK(testing::await(partitions.drop(past[0])) ==
          drop_status::dropped); // with the body that is no longer needed
    CHECK(testing::await(partitions.drop(past[0])) == drop_status::absent);
    CHECK(testing::await(partitions.drop(past[1])) == drop_status::needed);
    world.scratch.execute("DELETE FROM mailbox.emails");
    CHECK(testing::await(partitions.drop(past[1])) == drop_status::dropped);
    CHECK(testing::await(partitions.past_partitions()).empty());
    CHECK(partitions_like(world, "^bodies_[0-9]{8}_[0-9]{2}$") == 1);
}

TEST_CASE("an hour may be dropped an hour after its end, and is overdue six hours later",
          "[mailbox][postgres]")
{
    seeds::world world;
    partition_repository partitions(world.scratch.db());
    for (const auto age : {0h, 1h, 2h, 8h, 9h})
        testing::await(partitions.ensure_body_hour(seeds::now() - age));

    const auto past = testing::await(partitions.past_partitions());

    REQUIRE(past.size() == 3);
    CHECK(past[2].hour == std::chrono::floor<std::chrono::hours>(seeds::now() - 2h));
    CHECK_FALSE(past[2].is_overdue);
    CHECK(past[1].is_overdue);
    CHECK(past[0].is_overdue);
}

TEST_CASE(
    "making and dropping partitions never waits for one who reads, since others would wait behind",
    "[mailbox][postgres]")
{
    seeds::world world;
    partition_repository partitions(world.scratch.db());
    testing::await(partitions.ensure_body_hour(seeds::now() - 50h));
    const auto past = testing::await(partitions.past_partitions());
    REQUIRE(past.size() == 1);
    pqxx::connection connection(world.scratch.dsn());
    pqxx::work reading(connection);
    reading.exec("SELECT count(*) FROM mailbox.bodies");

    reading.exec("SELECT count(*) FROM mailbox.emails");

    // Not "canceling statement due to lock timeout", which comes after a wait.
    const auto refused = Catch::Contains("could not obtain lock on relation");
    CHECK_THROWS_WITH(testing::await(partitions.drop(past[0])), refused);
    CHECK_THROWS_WITH(testing::await(partitions.ensure_body_hour(seeds::now() + 1h)), refused);
    CHECK_THROWS_WITH(testing::await(partitions.ensure_email_days(5)), refused);
    CHECK_THROWS_AS(testing::await(partitions.drop(past[0])), postgres::timed_out);

    reading.abort();
    CHECK(testing::await(partitions.drop(past[0])) == drop_status::dropped);
    testing::await(partitions.ensure_body_hour(seeds::now() + 1h));
    testing::await(partitions.ensure_email_days(5));
    CHECK(partitions_like(world, "^bodies_[0-9]{8}_[0-9]{2}$") == 1);
    CHECK(partitions_like(world, "^emails_[0-9]{8}$") == 6);
}

TEST_CASE("one process at a time is at the partitions, and none waits for another",
          "[mailbox][postgres]")
{
    seeds::world world;
    partition_repository partitions(world.scratch.db());
    testing::await(partitions.ensure_body_hour(seeds::now() - 50h));
    const auto past = testing::await(partitions.past_partitions());
    pqxx::connection connection(world.scratch.dsn());
    pqxx::work another(connection);
    another.exec("SELECT pg_advisory_xact_lock(hashtext('mailbox.partitions'))");

    CHECK(testing::await(partitions.drop(past.at(0))) == drop_status::taken);
    CHECK_FALSE(testing::await(partitions.move_needed(*past.at(0).hour)));
    CHECK_FALSE(testing::await(partitions.empty_some(past.at(0), std::nullopt)));

    another.abort();
    CHECK(testing::await(partitions.drop(past.at(0))) == drop_status::dropped);
}

namespace {

// Live inboxes with mail in partitions of future hours; then time passes for some of it.
struct hours_world : seeds::world
{
    partition_repository partitions{scratch.db()};
    email_repository emails{scratch.db()};
    plans::account_state account = seeds::account();
    time_point early = std::chrono::floor<std::chrono::hours>(seeds::now() - 3h);

    hours_world()
    {
        testing::await(partitions.ensure_body_hour(early));
        testing::await(partitions.ensure_body_hour(seeds::now() + account.limits.default_ttl));
    }

    void extend(const inbox& target, std::chrono::seconds ttl)
    {
        inbox_change requested;
        requested.account = account;
        requested.id = target.id;
        requested.ttl = ttl;
        testing::await(inboxes.change(requested, seeds::now())).value();
    }

    // As if the mail had come while the hour of its inbox's end was this one.
    void put_into_hour(const body_id body, time_point hour)
    {
        const auto to = " SET body_hour = date_trunc('hour', mailbox.from_micros(" +
                        std::to_string(to_unix_micros(hour)) + "), 'UTC') WHERE body_id = '" +
                        body.text() + "'";
        scratch.execute("UPDATE mailbox.emails" + to);
        scratch.execute("UPDATE mailbox.bodies" + to);
    }
    void note_early_end()
    {
        scratch.execute("UPDATE mailbox.extended_inboxes SET body_hour = mailbox.from_micros(" +
                        std::to_string(to_unix_micros(early)) + ")");
    }

    std::string raw_in(const inbox& of)
    {
        const auto id = scratch.execute("SELECT email_id FROM mailbox.emails WHERE inbox_id = '" +
                                        of.id.text() + "'")[0][0];
        const auto found =
            testing::await(emails.find(of.account, email_id::parse(id.c_str()).value()));
        return found ? found->raw : found.error().message;
    }

    past_partition early_partition() { return testing::await(partitions.past_partitions()).at(0); }
};

} // namespace

TEST_CASE("what an extended inbox has in a past hour is moved before the hour is dropped",
          "[mailbox][postgres]")
{
    hours_world world;
    const auto extended = world.create(world.account), also_extended = world.create(world.account),
               ended = world.create(world.account);
    const auto own = world.add_email({extended}, "of one"),
               shared = world.add_email({extended, also_extended, ended}, "of three"),
               of_ended = world.add_email({ended}, "nobody's");
    for (const auto& body : {own, shared, of_ended})
        world.put_into_hour(body, world.early);
    world.extend(extended, 48h);
    world.extend(also_extended, 72h);
    CHECK(world.count("extended_inboxes") == 2);
    world.note_early_end();
    world.make_due("inbox_id = '" + ended.id.text() + "'");
    testing::await(world.endings.expire_due());

    const auto before = testing::await(world.partitions.drop(world.early_partition()));
    while (testing::await(world.partitions.move_needed(world.early)))
        ;
    const auto after = testing::await(world.partitions.drop(world.early_partition()));

    CHECK(before == drop_status::needed);
    CHECK(after == drop_status::dropped);
    // The other inbox lives longer still: the shared body is in the hour where the first one ends.
    CHECK(world.count("extended_inboxes WHERE body_hour <= now()") == 0);
    CHECK(world.raw_in(also_extended) == "of three");
    const auto hours = world.scratch.execute(
        "SELECT e.body_id, count(DISTINCT e.body_hour), count(DISTINCT b.body_hour) FROM "
        "mailbox.emails e JOIN mailbox.bodies b USING (body_hour, body_id) GROUP BY 1");
    REQUIRE(hours.size() == 2);
    for (const auto& row : hours) {
        CHECK(row[1].as<int>() == 1);
        CHECK(row[2].as<int>() == 1);
    }
    CHECK(world.count("bodies") == 2);
    CHECK(world.count("emails WHERE inbox_id = '" + extended.id.text() +
                      "' AND body_hour < now() + interval '40 hours'") == 0);
}

TEST_CASE("a later hour of an extended inbox stays noted once an earlier one is dropped",
          "[mailbox][postgres]")
{
    hours_world world;
    const auto inbox = world.create(world.account);
    const auto first = world.add_email({inbox}, "early");
    world.put_into_hour(first, world.early);
    world.extend(inbox, 48h);
    world.note_early_end();
    // Was shared with an inbox that was to live longer than this one at the time.
    world.put_into_hour(world.add_email({inbox}, "later"), seeds::now() + 1h);

    while (testing::await(world.partitions.move_needed(world.early)))
        ;

    REQUIRE(world.count("extended_inboxes") == 1);
    CHECK(world.count(
              "extended_inboxes AS x JOIN mailbox.emails AS e USING (inbox_id, body_hour)") == 1);
    CHECK(testing::await(world.partitions.drop(world.early_partition())) == drop_status::dropped);
}

TEST_CASE("extending within the hour, shortening, and an inbox without mail need no note",
          "[mailbox][postgres]")
{
    hours_world world;
    const auto inbox = world.create(world.account), empty = world.create(world.account);
    world.add_email({inbox}, "mail");

    world.extend(empty, 48h);
    world.extend(inbox, 2h);
    world.scratch.execute(
        "UPDATE mailbox.inboxes SET expires_at = date_trunc('hour', expires_at, 'UTC')");
    world.scratch.execute(
        "UPDATE mailbox.inboxes SET expires_at = expires_at + interval '50 minutes'");
    CHECK(world.count("extended_inboxes") == 0);

    world.extend(inbox, 48h);
    CHECK(world.count("extended_inboxes") == 1);
}

TEST_CASE("an hour that cannot be dropped for long is emptied in batches, but for what is needed",
          "[mailbox][postgres]")
{
    hours_world world;
    const auto inbox = world.create(world.account);
    world.put_into_hour(world.add_email({inbox}, "needed"), world.early);
    world.extend(inbox, 48h);
    world.note_early_end();
    world.add_bodies(world.early, 700);
    const auto past = world.early_partition();

    CHECK_FALSE(testing::await(world.partitions.empty_some(past, std::nullopt)));
    while (testing::await(world.partitions.move_needed(world.early)))
        ;
    const auto first = testing::await(world.partitions.empty_some(past, std::nullopt));
    const auto left = world.count(past.name);
    const auto second = testing::await(world.partitions.empty_some(past, first));
    const auto third = testing::await(world.partitions.empty_some(past, second));

    CHECK(first);
    CHECK(left == 200);
    CHECK(second);
    CHECK_FALSE(third);
    CHECK(world.count(past.name) == 0);
    CHECK(world.raw_in(inbox) == "needed");
}
