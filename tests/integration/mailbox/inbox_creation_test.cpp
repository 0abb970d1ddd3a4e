#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <thread>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

namespace {

new_inbox of(const plans::account_state& account,
             std::optional<std::string> local_part = std::nullopt)
{
    new_inbox requested;
    requested.account = account;
    requested.id = inbox_id::make();
    requested.local_part = std::move(local_part);
    return requested;
}

inbox_repository::creations create_all(seeds::world& world, std::vector<new_inbox> requested)
{
    return testing::await(world.inboxes.create_all(std::move(requested), seeds::now()));
}

awaitable<void> create_and_count(inbox_repository& inboxes, std::vector<new_inbox> requested,
                                 int& made, int& ended)
{
    const auto created = co_await inboxes.create_all(std::move(requested), seeds::now());
    made += static_cast<int>(std::count_if(created.begin(), created.end(),
                                           [](const auto& one) { return one.has_value(); }));
    ++ended;
}

std::string text_of(const result<created_inbox>& outcome)
{
    return outcome ? outcome->inbox.address : std::string(to_string(outcome.error().code));
}

} // namespace

TEST_CASE("a batch of inboxes is created in one transaction, each as it was asked for",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    auto first = of(seeds::account(), "ann");
    first.name = "Ann's \"inbox\"";
    first.tags = {"ci", "a,b{c}\\"};
    first.metadata = {{"run", "17"}, {"käse", "ja \" \\"}};
    first.ttl = 90s;
    const auto second = of(seeds::account());

    const auto created = create_all(world, {first, second, of(second.account)});

    REQUIRE(created.size() == 3);
    const auto& made = created[0].value().inbox;
    CHECK(made.address == "ann@mail.test");
    CHECK(made.expires_at - made.created_at == 90s);
    const auto read = world.read(made);
    CHECK(read.name == first.name);
    CHECK(read.tags == first.tags);
    CHECK(read.metadata == first.metadata);
    CHECK(read.created_at == made.created_at);
    CHECK(read.expires_at == made.expires_at);
    CHECK(made.name == first.name);
    CHECK(made.tags == first.tags);
    CHECK(made.metadata == first.metadata);
    CHECK(created[1].value().inbox.id == second.id);
    CHECK(created[1].value().inbox.expires_at - created[1].value().inbox.created_at == 24h);
    for (const auto& one : created) {
        REQUIRE(one.value().events.size() == 2);
        const auto of_it = "outbox WHERE key = '" + one->inbox.id.text() + "' AND owner = 'test'";
        CHECK(world.count(of_it + " AND topic = 'inbox.created'") == 1);
        CHECK(world.count(of_it + " AND topic = 'inbox.state' AND sequence = 1") == 1);
        CHECK(world.count("addresses WHERE address = '" + one->inbox.address +
                          "' AND state = 'live' AND inbox_id = '" + one->inbox.id.text() + "'") ==
              1);
    }
    CHECK(world.count("inboxes WHERE created_event_id IS NOT NULL AND first_expires_at = "
                      "expires_at") == 3);
    CHECK(world.scratch.execute("SELECT count(DISTINCT xmin::text) FROM mailbox.inboxes")[0][0]
              .as<int>() == 1);
    CHECK(testing::await(world.inboxes.count_live(second.account.account)) == 2);
}

TEST_CASE("an inbox that is refused fails alone", "[mailbox][create][postgres]")
{
    seeds::world world;
    const auto full = seeds::account(1), good = seeds::account();
    auto deleted = seeds::account();
    deleted.is_deleted = true;
    world.create(full);
    world.create(good, "taken");
    auto too_long = of(good);
    too_long.ttl = 24h * 8;
    auto foreign = of(good);
    foreign.domain = "other.test";

    const auto created =
        create_all(world, {of(full), of(good, "first"), of(good, "taken"), too_long, foreign,
                           of(good, "postmaster"), of(deleted), of(good, "last")});

    const std::vector<std::string> expected{"permission_denied", "first@mail.test",  "conflict",
                                            "invalid_argument",  "invalid_argument", "conflict",
                                            "permission_denied", "last@mail.test"};
    REQUIRE(created.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(text_of(created[i]) == expected[i]);
    CHECK(created[0].error().message.starts_with("All 1 live inboxes of plan pro are used"));
    CHECK(created[2].error().message == "The address taken@mail.test is not available");
    CHECK(created[3].error().message.starts_with("ttlSeconds "));
    CHECK(created[4].error().message.starts_with("domain "));
    CHECK(created[6].error().reason == error_reason::account_deleted);
    CHECK(testing::await(world.inboxes.count_live(good.account)) == 3);
    CHECK(testing::await(world.inboxes.count_live(full.account)) == 1);
}

TEST_CASE("an inbox that PostgreSQL refuses fails alone", "[mailbox][create][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    auto unstorable = of(account);
    unstorable.name = std::string("zero \0 byte", 11);

    const auto created = create_all(world, {of(account), unstorable, of(account)});

    CHECK(created[0]);
    CHECK(text_of(created[1]) == "internal");
    CHECK(created[2]);
    CHECK(world.count("inboxes") == 2);
    CHECK(world.count("outbox") == 4);
    CHECK(testing::await(world.inboxes.count_live(account.account)) == 2);
}

TEST_CASE("an account that somebody locks fails alone", "[mailbox][create][postgres]")
{
    seeds::world world;
    const auto locked = seeds::account(), free = seeds::account();
    world.create(locked);
    pqxx::connection other(world.scratch.dsn());
    pqxx::work holding(other);
    holding.exec("SELECT 1 FROM mailbox.account_states WHERE account_id = '" +
                 locked.account.text() + "' FOR UPDATE");

    const auto created = create_all(world, {of(locked), of(free), of(free)});

    CHECK(text_of(created[0]) == "unavailable");
    CHECK(created[1]);
    CHECK(created[2]);
}

TEST_CASE("accounts that somebody locks keep none of another account from its inbox",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    std::vector<plans::account_state> locked;
    for (int i = 0; i < 5; ++i)
        locked.push_back(seeds::account());
    const auto free = seeds::account(); // made last, so its row is asked for last
    std::vector<mailbox::new_inbox> batch;
    pqxx::connection other(world.scratch.dsn());
    pqxx::work holding(other);
    for (const auto& account : locked) {
        world.create(account);
        holding.exec("SELECT 1 FROM mailbox.account_states WHERE account_id = '" +
                     account.account.text() + "' FOR UPDATE");
        batch.push_back(of(account));
    }
    batch.push_back(of(free));

    const auto created = create_all(world, std::move(batch));

    for (std::size_t i = 0; i < locked.size(); ++i)
        CHECK(text_of(created[i]) == "unavailable");
    CHECK(created.back());
}

TEST_CASE("an account that somebody locks for a moment is tried again",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    const auto locked = seeds::account();
    world.create(locked);
    pqxx::connection other(world.scratch.dsn()), watching(world.scratch.dsn());
    pqxx::work holding(other);
    holding.exec("SELECT 1 FROM mailbox.account_states WHERE account_id = '" +
                 locked.account.text() + "' FOR UPDATE");
    // Longer than one attempt waits.
    std::thread release([&] {
        std::set<std::string> attempts;
        const auto give_up = std::chrono::steady_clock::now() + 10s;
        while (attempts.size() < 2 && std::chrono::steady_clock::now() < give_up)
            for (const auto& row : pqxx::nontransaction(watching).exec(
                     "SELECT xact_start::text FROM pg_stat_activity WHERE wait_event_type = "
                     "'Lock' AND datname = current_database()"))
                attempts.insert(row[0].c_str());
        holding.abort();
    });

    const auto created = create_all(world, {of(locked), of(locked)});
    release.join();

    CHECK(created[0]);
    CHECK(created[1]);
}

TEST_CASE("an account at its limit is refused at once, however often it asks for one address",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    const auto full = seeds::account(1);
    world.create(full);

    // One statement decides all of them: with "again" there would be one for each.
    const auto outcomes = world.scratch.execute(
        "SELECT outcome, count(*) FROM mailbox.create_inboxes(ARRAY(SELECT ROW('" +
        full.account.text() +
        "', gen_random_uuid(), false, 'ann', NULL, false, 3600, 1, NULL, '{}', '{}', "
        "gen_random_uuid())::mailbox.new_inbox FROM generate_series(1, 128)), "
        "now() + interval '1 day') GROUP BY 1");

    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes[0][0].as<std::string>() == "limit");
    CHECK(outcomes[0][1].as<int>() == 128);
    const auto created = create_all(world, {of(full, "ann"), of(full, "ann")});
    CHECK(text_of(created[0]) == "permission_denied");
    CHECK(text_of(created[1]) == "permission_denied");
}

TEST_CASE("of one address asked for twice in a batch the first request gets it",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    const auto alice = seeds::account(), bob = seeds::account(), full = seeds::account(0);
    auto by_domain = of(bob, "ann");
    by_domain.domain = "mail.test";

    const auto created =
        create_all(world, {of(full, "ann"), of(alice, "ann"), by_domain, of(bob, "bea")});

    CHECK(text_of(created[0]) == "permission_denied");
    CHECK(text_of(created[1]) == "ann@mail.test");
    CHECK(text_of(created[2]) == "conflict");
    CHECK(text_of(created[3]) == "bea@mail.test");
}

TEST_CASE("one id twice in a batch, and one of an earlier inbox, make no other inbox",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    auto account = seeds::account(2);
    const auto earlier = world.create(account);
    auto again = of(account);
    again.id = earlier.id;
    const auto twice = of(account);
    auto deleted = again;
    deleted.account.version = 2;
    deleted.account.is_deleted = true;

    const auto created = create_all(world, {again, twice, twice});
    const auto after_the_end = create_all(world, {deleted});

    CHECK(text_of(created[0]) == earlier.address);
    CHECK(created[0]->events.empty());
    CHECK(created[1].value().events.size() == 2);
    CHECK(text_of(created[2]) == created[1]->inbox.address);
    CHECK(created[2]->events.empty());
    CHECK(text_of(after_the_end[0]) == earlier.address);
    CHECK(world.count("inboxes") == 2);
}

TEST_CASE("past the limit the first of a batch are created, and a taken address needs no slot",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(2);
    world.create(seeds::account(), "taken");

    const auto created =
        create_all(world, {of(account, "taken"), of(account, "a"), of(account, "taken"),
                           of(account, "b"), of(account, "taken"), of(account, "c")});

    const std::vector<std::string> expected{"conflict",          "a@mail.test",
                                            "conflict",          "b@mail.test",
                                            "permission_denied", "permission_denied"};
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(text_of(created[i]) == expected[i]);
    CHECK(testing::await(world.inboxes.count_live(account.account)) == 2);
}

TEST_CASE("batches of several processes at once keep every account's limit exactly",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    inbox_repository second(world.scratch.db(), "another process");
    const auto one = seeds::account(37), other = seeds::account(5);
    int made = 0, ended = 0;

    // 200 requests in 40 batches, most of them of the first account.
    for (int i = 0; i < 40; ++i) {
        auto& inboxes = i % 2 == 0 ? world.inboxes : second;
        boost::asio::co_spawn(
            testing::test_host().loop(),
            create_and_count(inboxes, {of(one), of(other), of(one), of(one), of(one)}, made, ended),
            boost::asio::detached);
    }
    REQUIRE(testing::eventually([&] { return ended == 40; }, 30s));

    CHECK(made == 42);
    CHECK(world.count("inboxes WHERE account_id = '" + one.account.text() + "'") == 37);
    CHECK(world.count("inboxes WHERE account_id = '" + other.account.text() + "'") == 5);
    CHECK(testing::await(world.inboxes.count_live(one.account)) == 37);
    CHECK(world.count("addresses") == 42);
    CHECK(world.count("outbox") == 84);
}

TEST_CASE("batches at once that want the same addresses give each to one inbox",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    int made = 0, ended = 0;

    for (int i = 0; i < 20; ++i) {
        const auto account = seeds::account();
        std::vector<new_inbox> wanted;
        for (int name = 0; name < 8; ++name)
            wanted.push_back(of(account, "name" + std::to_string((name * (i % 2 ? 1 : 7)) % 8)));
        boost::asio::co_spawn(testing::test_host().loop(),
                              create_and_count(world.inboxes, std::move(wanted), made, ended),
                              boost::asio::detached);
    }
    REQUIRE(testing::eventually([&] { return ended == 20; }, 30s));

    CHECK(made == 8);
    CHECK(world.count("inboxes") == 8);
    CHECK(world.scratch.execute("SELECT sum(live_inboxes) FROM mailbox.live_inbox_counts")[0][0]
              .as<int>() == 8);
}

TEST_CASE("an address is given out again once its quarantine is over",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    const auto former = seeds::account(), account = seeds::account();
    const auto ended = world.create(former, "ann");
    testing::await(world.endings.expire(former.account, ended.id)).value();
    const auto refused = create_all(world, {of(account, "ann"), of(account, "bea")});
    world.scratch.execute("UPDATE mailbox.addresses SET until = now() WHERE address LIKE 'ann@%'");

    const auto created = create_all(world, {of(account, "ann")});

    CHECK(text_of(refused[0]) == "conflict");
    CHECK(text_of(refused[1]) == "bea@mail.test");
    CHECK(text_of(created[0]) == "ann@mail.test");
}

TEST_CASE("the events of an inbox belong to the trace of its own request",
          "[mailbox][create][postgres]")
{
    seeds::world world;
    auto first = of(seeds::account()), second = of(seeds::account());
    first.cause = trace::traceparent::make();
    second.cause = trace::traceparent::make();

    const auto created = create_all(world, {first, second});

    const auto trace_of = [](const result<created_inbox>& one) {
        const auto& headers = one.value().events.at(0).message.headers;
        const auto found = std::find_if(headers.begin(), headers.end(), [](const auto& header) {
            return header.first == "traceparent";
        });
        return found->second;
    };
    CHECK(trace_of(created[0]) == first.cause.span.text());
    CHECK(trace_of(created[1]) == second.cause.span.text());
}
