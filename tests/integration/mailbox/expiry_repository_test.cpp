#include "integration/mailbox/seeds.hpp"

#include "common/events/events.hpp"
#include "common/rpc/timestamp.hpp"
#include "mailbox/account_state_repository.hpp"
#include "mailbox/email_repository.hpp"
#include "mailbox/purge_repository.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

namespace {

awaitable<void> expire_all(expiry_repository& store, std::vector<inbox_id>& ended, int& done)
{
    for (;;) {
        const auto batch = co_await store.expire_due();
        for (const auto& each : batch.ended)
            ended.push_back(each.id);
        if (batch.ended.empty())
            break;
    }
    ++done;
}

} // namespace

TEST_CASE("a due inbox is ended with its event, its slot freed and its address quarantined",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto due = world.create(account, "due");
    const auto living = world.create(account, "living");
    world.make_due("inbox_id = '" + due.id.text() + "'");

    const auto batch = testing::await(world.endings.expire_due());

    REQUIRE(batch.ended.size() == 1);
    CHECK(batch.ended[0].id == due.id);
    CHECK(batch.oldest_delay >= 3s);
    REQUIRE(batch.events.size() == 2);
    CHECK(world.count("outbox WHERE topic = 'inbox.expired' AND event_id = '" +
                      batch.events[0].id.text() + "'") == 1);
    const auto found = testing::await(world.inboxes.find(account.account, due.id)).value();
    CHECK_FALSE(found.is_live);
    CHECK(found.expired_at == found.expires_at);
    CHECK(testing::await(world.inboxes.find(account.account, living.id)).value().is_live);
    CHECK(testing::await(world.inboxes.count_live(account.account)) == 1);
    CHECK(world.count("addresses WHERE address = 'due@mail.test' AND state = 'quarantined' AND "
                      "until > now() + interval '29 days'") == 1);
}

TEST_CASE("a due inbox has ended for readers even before it is marked", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto due = world.create(account);
    world.make_due();

    const auto found = testing::await(world.inboxes.find(account.account, due.id)).value();

    CHECK_FALSE(found.is_live);
    CHECK(found.expired_at == found.expires_at);
    CHECK(testing::await(world.endings.expire(account.account, due.id)).error().code ==
          errc::not_found);
}

TEST_CASE("concurrent claimers end each due inbox exactly once", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(2'000);
    world.scratch.execute(
        "INSERT INTO mailbox.inboxes (account_id, inbox_id, email_address, created_at, expires_at) "
        "SELECT ('00000000-0000-7000-8000-00000000000' || n % 5)::uuid, gen_random_uuid(), n || "
        "'@mail.test', "
        "now() - interval '1 hour', now() - interval '1 second' FROM generate_series(1, 1700) n; "
        "INSERT INTO mailbox.addresses (address, account_id, inbox_id, state, until) SELECT "
        "email_address, account_id, inbox_id, 'live', "
        "expires_at FROM mailbox.inboxes; "
        "INSERT INTO mailbox.live_inbox_counts (account_id, live_inboxes) SELECT account_id, "
        "count(*) "
        "FROM mailbox.inboxes GROUP "
        "BY account_id");
    expiry_repository another(world.scratch.db(), "another", std::chrono::hours(24));
    std::vector<inbox_id> ended;
    int done = 0;

    boost::asio::co_spawn(testing::test_host().loop(), expire_all(world.endings, ended, done),
                          boost::asio::detached);
    boost::asio::co_spawn(testing::test_host().loop(), expire_all(another, ended, done),
                          boost::asio::detached);
    boost::asio::co_spawn(testing::test_host().loop(), expire_all(world.endings, ended, done),
                          boost::asio::detached);
    REQUIRE(testing::eventually([&] { return done == 3; }));

    CHECK(ended.size() == 1'700);
    CHECK(std::set<inbox_id>(ended.begin(), ended.end()).size() == 1'700);
    CHECK(world.count("outbox WHERE topic = 'inbox.expired'") == 1'700);
    CHECK(world.count("inboxes WHERE is_live") == 0);
    CHECK(world.count("live_inbox_counts WHERE live_inboxes <> 0") == 0);
    CHECK(world.count("addresses WHERE state = 'live'") == 0);
}

TEST_CASE("when the event cannot be written the inbox is not ended", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto due = world.create(account);
    world.make_due();
    world.scratch.execute(
        "ALTER TABLE mailbox.outbox ADD CONSTRAINT nothing_more CHECK (topic <> 'inbox.expired')");

    CHECK_THROWS(testing::await(world.endings.expire_due()));

    CHECK(world.count("inboxes WHERE is_live") == 1);
    CHECK(world.count("addresses WHERE state = 'live'") == 1);
    CHECK(testing::await(world.inboxes.count_live(account.account)) == 1);
}

TEST_CASE("an inbox that another transaction holds is passed over", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto held = world.create(account);
    world.create(account);
    world.make_due();
    pqxx::connection connection(world.scratch.dsn());
    pqxx::work holding(connection);
    holding.exec("SELECT 1 FROM mailbox.inboxes WHERE inbox_id = '" + held.id.text() +
                 "' FOR UPDATE");

    const auto meanwhile = testing::await(world.endings.expire_due());
    const auto until_next = testing::await(world.endings.until_next_due());
    holding.abort();
    const auto afterwards = testing::await(world.endings.expire_due());

    CHECK(meanwhile.ended.size() == 1);
    CHECK(until_next.value() < 0s);
    REQUIRE(afterwards.ended.size() == 1);
    CHECK(afterwards.ended[0].id == held.id);
}

TEST_CASE("an owner ends an inbox once, and the event says so", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto mine = world.create(account);

    const auto batch = testing::await(world.endings.expire(account.account, mine.id)).value();

    REQUIRE(batch.events.size() == 2);
    events::v1::InboxExpired event;
    REQUIRE(event.ParseFromString(batch.events[0].message.value));
    CHECK(event.reason() == events::v1::EXPIRY_REASON_DELETED);
    CHECK(event.email_address() == mine.address);
    CHECK(testing::await(world.endings.expire(account.account, mine.id)).error().code ==
          errc::not_found);
    CHECK(world.count("outbox WHERE topic = 'inbox.expired'") == 1);
}

TEST_CASE("inboxes that owners end together end as if one after the other, each with its events",
          "[mailbox][together][postgres]")
{
    seeds::world world;
    const auto ann = seeds::account(), bob = seeds::account();
    const auto first = world.create(ann), hers = world.create(ann), his = world.create(bob);
    const auto cause = trace::traceparent::make();

    auto ended = testing::await(world.endings.expire_all({{ann.account, first.id, {cause}},
                                                          {bob.account, his.id, {}},
                                                          {bob.account, hers.id, {}},
                                                          {ann.account, first.id, {}}}));

    REQUIRE(ended.size() == 4);
    REQUIRE(ended[0]);
    REQUIRE(ended[1]);
    CHECK(ended[2].error().code == errc::not_found);
    CHECK(ended[3].error().code == errc::not_found);
    CHECK(ended[0]->ended.at(0).id == first.id);
    CHECK(ended[1]->ended.at(0).id == his.id);
    for (const auto& each : {*ended[0], *ended[1]}) {
        REQUIRE(each.events.size() == 2);
        CHECK(each.events[0].message.topic == "inbox.expired");
        CHECK(each.events[1].message.topic == "inbox.state");
        for (const auto& event : each.events)
            CHECK(event.message.key == each.ended[0].id.text());
    }
    CHECK(outbox::to_text(ended[0]->events[0].message.headers).find(cause.trace_id()) !=
          std::string::npos);
    CHECK(world.count("outbox WHERE topic = 'inbox.expired'") == 2);
    CHECK(testing::await(world.inboxes.count_live(ann.account)) == 1);
    CHECK(testing::await(world.inboxes.count_live(bob.account)) == 0);
}

TEST_CASE("of inboxes that end together one that somebody holds fails alone",
          "[mailbox][together][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto held = world.create(account), free = world.create(account);
    pqxx::connection other(world.scratch.dsn());
    pqxx::work holding(other);
    holding.exec("SELECT FROM mailbox.inboxes WHERE inbox_id = '" + held.id.text() +
                 "' FOR UPDATE");

    const auto ended = testing::await(
        world.endings.expire_all({{account.account, held.id, {}}, {account.account, free.id, {}}}));

    CHECK(ended.at(0).error().code == errc::unavailable);
    CHECK(ended.at(1).has_value());
    holding.abort();
    CHECK(world.read(held).is_live);
    CHECK_FALSE(world.read(free).is_live);
}

TEST_CASE("a few held inboxes do not use up the time of those that end with them",
          "[mailbox][together][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    std::vector<mailbox::inbox_end> requested;
    std::string held;
    for (int i = 0; i < 4; ++i) {
        const auto id = world.create(account).id;
        held += (i > 0 ? ", '" : "'") + id.text() + "'";
        requested.push_back({account.account, id, {}});
    }
    const auto free = world.create(account);
    requested.push_back({account.account, free.id, {}});
    pqxx::connection other(world.scratch.dsn());
    pqxx::work holding(other);
    holding.exec("SELECT FROM mailbox.inboxes WHERE inbox_id IN (" + held + ") FOR UPDATE");

    const auto ended = testing::await(world.endings.expire_all(std::move(requested)));

    for (std::size_t i = 0; i < 4; ++i)
        CHECK(ended.at(i).error().code == errc::unavailable);
    CHECK(ended.at(4).has_value());
}

TEST_CASE("an inbox that is held for a moment ends with the others",
          "[mailbox][together][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto held = world.create(account), free = world.create(account);
    pqxx::connection other(world.scratch.dsn());
    pqxx::work holding(other);
    holding.exec("SELECT FROM mailbox.inboxes WHERE inbox_id = '" + held.id.text() +
                 "' FOR UPDATE");
    pqxx::connection watching(world.scratch.dsn());
    std::thread release([&] {
        const auto give_up = std::chrono::steady_clock::now() + 10s;
        std::string is_live = "t"; // the other one, which did not wait
        while (is_live == "t" && std::chrono::steady_clock::now() < give_up)
            is_live = pqxx::nontransaction(watching)
                          .exec1("SELECT is_live FROM mailbox.inboxes WHERE inbox_id = '" +
                                 free.id.text() + "'")[0]
                          .c_str();
        holding.abort();
    });

    const auto ended = testing::await(
        world.endings.expire_all({{account.account, held.id, {}}, {account.account, free.id, {}}}));
    release.join();

    CHECK(ended.at(0).has_value());
    CHECK(ended.at(1).has_value());
}

TEST_CASE("the state of an ended inbox has a higher version", "[mailbox][inbox-state][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto due = world.create(account), deleted = world.create(account),
               living = world.create(account);
    world.make_due("inbox_id = '" + due.id.text() + "'");

    testing::await(world.endings.expire(account.account, deleted.id)).value();
    const auto batch = testing::await(world.endings.expire_due());

    events::v1::InboxState state;
    REQUIRE(state.ParseFromString(batch.events.at(1).message.value));
    CHECK(state.inbox_id() == due.id.text());
    CHECK(state.status() == events::v1::INBOX_STATUS_EXPIRED);
    CHECK(state.version() == 2);
    CHECK(rpc::to_time(state.expired_at()) == rpc::to_time(state.expires_at()));
    const auto states = [&](const inbox& of) {
        return world.scratch.execute("SELECT sequence FROM mailbox.outbox WHERE topic = "
                                     "'inbox.state' AND key = '" +
                                     of.id.text() + "' ORDER BY sequence DESC");
    };
    for (const auto& ended : {due, deleted})
        CHECK(states(ended).at(0)[0].as<int>() == 2);
    CHECK(states(living).at(0)[0].as<int>() == 1);
    CHECK(world.count("outbox WHERE topic = 'inbox.created'") == 3);
}

TEST_CASE("a state that is being published does not hold up the inbox's end",
          "[mailbox][inbox-state][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto mine = world.create(account);
    pqxx::connection publisher(world.scratch.dsn());
    pqxx::work claim(publisher);
    claim.exec("SELECT FROM mailbox.outbox FOR UPDATE");

    REQUIRE(testing::await(world.endings.expire(account.account, mine.id)));

    claim.commit();
    CHECK(world.count("outbox WHERE topic = 'inbox.state'") == 2);
}

TEST_CASE("an address is given again once its quarantine is over, not before",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto first = world.create(account, "ann");
    testing::await(world.endings.expire(account.account, first.id)).value();

    const auto during = world.try_create(account, "ann");
    world.scratch.execute("UPDATE mailbox.addresses SET until = now() - interval '1 second'");
    const auto after = world.try_create(account, "ann");

    CHECK(during.error().code == errc::conflict);
    REQUIRE(after);
    CHECK(world.count(
              "addresses WHERE address = 'ann@mail.test' AND state = 'live' AND inbox_id = '" +
              after->inbox.id.text() + "'") == 1);
}

TEST_CASE("an owner ends all live inboxes with a tag, and nobody else's", "[mailbox][postgres]")
{
    seeds::world world;
    const auto alice = seeds::account(), bob = seeds::account();
    const auto tagged = [&](const plans::account_state& owner, std::vector<std::string> tags) {
        new_inbox requested;
        requested.account = owner;
        requested.id = inbox_id::make();
        requested.tags = std::move(tags);
        return testing::await(world.inboxes.create(requested, seeds::now())).value().inbox;
    };
    tagged(alice, {"run 7", "ci"});
    tagged(alice, {"ci"});
    const auto foreign = tagged(bob, {"ci"});
    const auto untagged = tagged(alice, {"c"});

    const auto batch = testing::await(world.endings.expire_tagged(alice.account, {"ci"}));
    const auto again = testing::await(world.endings.expire_tagged(alice.account, {"ci"}));

    CHECK(batch.ended.size() == 2);
    CHECK(batch.events.size() == 4);
    CHECK(again.ended.empty());
    CHECK(testing::await(world.inboxes.count_live(alice.account)) == 1);
    CHECK(testing::await(world.inboxes.find(bob.account, foreign.id)).value().is_live);
    CHECK(testing::await(world.inboxes.find(alice.account, untagged.id)).value().is_live);
}

TEST_CASE("inboxes with all of several tags end, and no other", "[mailbox][postgres][key-access]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto both = world.create_tagged(account, {"b", "ci", "a"});
    world.create_tagged(account, {"a"});
    world.create_tagged(account, {"ci"});

    const auto batch = testing::await(world.endings.expire_tagged(account.account, {"a", "ci"}));

    REQUIRE(batch.ended.size() == 1);
    CHECK(batch.ended.front().id == both.id);
}

TEST_CASE("a deleted account's inboxes end, all of them and no other's",
          "[mailbox][deleted-account][postgres]")
{
    seeds::world world;
    account_state_repository accounts(world.scratch.db());
    const auto gone = seeds::account(), here = seeds::account();
    const auto first = world.create(gone, "first");
    const auto second = world.create(gone, "second");
    const auto kept = world.create(here);
    world.add_email({first}, "mail");
    email_repository emails(world.scratch.db());
    const auto email =
        email_id::parse(world.scratch.execute("SELECT email_id FROM mailbox.emails")[0][0].c_str())
            .value();
    REQUIRE(testing::await(emails.find(gone.account, email)));

    // The process that marks it may die at once: any process can do the rest.
    testing::await(accounts.mark_deleted(gone.account, 9));
    const auto batch = testing::await(world.endings.expire_of_deleted());
    const auto again = testing::await(world.endings.expire_of_deleted());

    CHECK(batch.ended.size() == 2);
    REQUIRE(batch.events.size() == 4);
    CHECK_FALSE(batch.has_more_of_deleted);
    for (const auto& row : batch.events) {
        if (row.message.topic != events::topics::inbox_expired)
            continue;
        events::v1::InboxExpired event;
        REQUIRE(event.ParseFromString(row.message.value));
        CHECK(event.reason() == events::v1::EXPIRY_REASON_DELETED);
        CHECK(event.account_id() == gone.account.text());
    }
    CHECK(world.count("outbox WHERE topic = 'inbox.expired'") == 2);
    CHECK(world.count("addresses WHERE state = 'quarantined'") == 2);
    CHECK(testing::await(world.inboxes.count_live(gone.account)) == 0);
    CHECK(testing::await(world.inboxes.find(here.account, kept.id)).value().is_live);
    CHECK(again.ended.empty());
    CHECK(world.count("deleted_accounts") == 0);
    // Its mail cannot be read from then on and goes like other mail.
    CHECK(testing::await(emails.find(gone.account, email)).error().code == errc::not_found);
    CHECK(testing::await(purge_repository(world.scratch.db(), "test").purge_mail()).emails == 1);
    CHECK(world.count("bodies") == 0);
}

TEST_CASE("an inbox of a deleted account that another holds ends once it is free",
          "[mailbox][deleted-account][postgres]")
{
    seeds::world world;
    account_state_repository accounts(world.scratch.db());
    const auto gone = seeds::account();
    const auto held = world.create(gone);
    world.create(gone);
    testing::await(accounts.mark_deleted(gone.account, 9));
    pqxx::connection connection(world.scratch.dsn());
    pqxx::work holding(connection);
    holding.exec("SELECT 1 FROM mailbox.inboxes WHERE inbox_id = '" + held.id.text() +
                 "' FOR UPDATE");

    const auto meanwhile = testing::await(world.endings.expire_of_deleted());
    holding.abort();
    const auto afterwards = testing::await(world.endings.expire_of_deleted());

    CHECK(meanwhile.ended.size() == 1);
    CHECK(meanwhile.has_more_of_deleted);
    REQUIRE(afterwards.ended.size() == 1);
    CHECK(afterwards.ended[0].id == held.id);
    CHECK_FALSE(afterwards.has_more_of_deleted);
}

TEST_CASE("who has more inboxes than a batch is deleted in several",
          "[mailbox][deleted-account][postgres]")
{
    seeds::world world;
    account_state_repository accounts(world.scratch.db());
    const auto gone = account_id::make();
    world.add_many_inboxes(gone, 700);
    testing::await(accounts.mark_deleted(gone, 9));

    std::vector<std::size_t> batches;
    for (bool has_more = true; has_more;) {
        const auto batch = testing::await(world.endings.expire_of_deleted());
        batches.push_back(batch.ended.size());
        has_more = batch.has_more_of_deleted;
    }

    CHECK(batches == std::vector<std::size_t>{500, 200});
    CHECK(world.count("inboxes WHERE is_live") == 0);
}

TEST_CASE("a note about an account that lives ends nothing", "[mailbox][deleted-account][postgres]")
{
    seeds::world world;
    auto account = seeds::account();
    // The bytes of the field `deleted`, in another one.
    account.plan = "\x30\x01";
    world.create(account);
    REQUIRE(world.count("deleted_accounts") == 1);

    const auto batch = testing::await(world.endings.expire_of_deleted());

    CHECK(batch.ended.empty());
    CHECK(world.count("inboxes WHERE is_live") == 1);
    CHECK(world.count("deleted_accounts") == 0);
}
