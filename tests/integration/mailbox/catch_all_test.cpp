#include "common/async/gather.hpp"
#include "integration/common/postgres/held_lock.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/inbox_creation.hpp"
#include "mailbox/purge_repository.hpp"

#include <boost/asio/co_spawn.hpp>

#include <catch2/catch.hpp>

#include <exception>
#include <optional>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using seeds::named;
using testing::await;

namespace {

plans::account_state with_catch_alls(int catch_alls, int live_inboxes = 10)
{
    auto state = seeds::account(live_inboxes);
    state.limits.catch_alls = catch_alls;
    return state;
}

new_inbox catch_all(const plans::account_state& account,
                    std::optional<std::string> domain = std::nullopt)
{
    auto requested = named(account, "*", "");
    requested.domain = std::move(domain);
    return requested;
}

// A domain below which accounts may hold subdomains.
struct open_world : seeds::world
{
    open_world() { await(domains.set_subdomains("mail.test", true)).value(); }

    result<created_inbox> try_to(new_inbox requested)
    {
        return await(inboxes.create(std::move(requested), seeds::now()));
    }

    inbox make(new_inbox requested) { return try_to(std::move(requested)).value().inbox; }

    void end(const inbox& of) { await(endings.expire(of.account, of.id)).value(); }

    // As if the quarantine of all were over.
    void end_quarantine()
    {
        scratch.execute("UPDATE mailbox.addresses SET until = now() WHERE state = 'quarantined'");
        scratch.execute("UPDATE mailbox.subdomains SET until = now()");
    }

    std::vector<std::string> held(const plans::account_state& account)
    {
        return await(domains.list_held(account.account));
    }
};

std::string reason_of(const result<created_inbox>& outcome)
{
    if (outcome)
        return outcome->inbox.address;
    const auto& why = outcome.error();
    return std::string(why.reason == error_reason::none ? to_string(why.code)
                                                        : to_string(why.reason));
}

// Runs batches in transactions of their own, which wait for locks as long as it takes.
class batches
{
public:
    explicit batches(open_world& world)
        : world_(world),
          db_(testing::test_host(), settings_of(world))
    {}

    // Returns once it waits for a lock, as all others under way do.
    bool start(std::vector<new_inbox> requested)
    {
        ++under_way_;
        boost::asio::co_spawn(
            testing::test_host().loop(),
            db_.transact([requested = std::move(requested), at = seeds::now()](pqxx::work& tx) {
                return create_inboxes(tx, requested, at, "test");
            }),
            [this](const std::exception_ptr& failed, std::vector<result<created_inbox>> created) {
                --under_way_;
                failed_ += failed ? 1 : 0;
                for (const auto& each : created)
                    outcomes_.push_back(reason_of(each));
            });
        return testing::eventually([this] { return waiting() == under_way_; });
    }

    bool end()
    {
        return testing::eventually([this] { return under_way_ == 0; });
    }

    int failed() const { return failed_; }
    const std::vector<std::string>& outcomes() const { return outcomes_; } // as they ended

private:
    static postgres::settings settings_of(const open_world& world)
    {
        postgres::settings chosen;
        chosen.dsn = world.scratch.dsn();
        testing::wait_for_locks(chosen);
        return chosen;
    }

    int waiting()
    {
        return world_.scratch
            .execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                     "wait_event_type = 'Lock'")[0][0]
            .as<int>();
    }

    open_world& world_;
    postgres::pool db_;
    inbox_repository prepared_{db_, "test"};
    int under_way_ = 0;
    int failed_ = 0;
    std::vector<std::string> outcomes_;
};

// The lock of a subdomain, as whoever ends an inbox in it has it.
testing::held_lock hold(open_world& world, const std::string& subdomain)
{
    return {world.scratch.dsn(),
            "SELECT 1 FROM mailbox.subdomains WHERE domain = '" + subdomain + "' FOR UPDATE"};
}

} // namespace

TEST_CASE("a catch-all has the subdomain that was asked for, or a random one",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto ann = with_catch_alls(2);

    const auto asked = world.try_to(catch_all(ann, "ci.mail.test")).value();
    const auto random = world.make(catch_all(ann));

    CHECK(asked.inbox.address == "*@ci.mail.test");
    CHECK(asked.events.size() == 2);
    CHECK(random.address.starts_with("*@"));
    CHECK(random.address.ends_with(".mail.test"));
    CHECK(random.address.size() > std::string("*@.mail.test").size() + 12);
    CHECK(world.held(ann) == std::vector<std::string>{"ci.mail.test", random.address.substr(2)});
    CHECK(world.held(with_catch_alls(2)).empty());
    CHECK(world.count("addresses WHERE address = '*@ci.mail.test' AND state = 'live'") == 1);
    CHECK(await(world.inboxes.count_live(ann.account)) == 2);
}

TEST_CASE("a catch-all is made by a repeat once, with the subdomain of the first",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto requested = catch_all(with_catch_alls(1));

    const auto first = world.make(requested), second = world.make(requested);

    CHECK(first.address == second.address);
    CHECK(await(world.inboxes.count_live(requested.account.account)) == 1);
    CHECK(world.held(requested.account).size() == 1);
}

TEST_CASE("subdomains are names below a domain that takes them", "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto ann = with_catch_alls(5);
    await(world.domains.add("closed.test", std::nullopt)).value();
    await(world.domains.add("ours.mail.test", std::nullopt)).value();

    for (const std::string domain :
         {"ci.closed.test", "ci.unknown.test", "a.ci.mail.test", "mail.test", "ours.mail.test"}) {
        CAPTURE(domain);
        const auto refused = world.try_to(catch_all(ann, domain));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == errc::invalid_argument);
        CHECK(refused.error().message.starts_with("domain "));
        CHECK_FALSE(await(world.inboxes.check(catch_all(ann, domain), seeds::now())));
    }
    CHECK(await(world.inboxes.check(catch_all(ann, "ci.mail.test"), seeds::now())));
    CHECK(world.held(ann).empty());

    CHECK_FALSE(await(world.domains.set_subdomains("mail.test", false)).value().takes_subdomains);
    const auto random = world.try_to(catch_all(ann));
    REQUIRE_FALSE(random);
    CHECK(random.error().code == errc::invalid_argument);
    CHECK(random.error().message.starts_with("localPart "));
    CHECK(await(world.domains.set_subdomains("other.test", true)).error().code == errc::not_found);
}

TEST_CASE("the plan says how many subdomains an account holds", "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto ann = with_catch_alls(1), none = with_catch_alls(0);
    auto before = seeds::account();
    const auto first = world.make(catch_all(ann, "one.mail.test"));

    CHECK(reason_of(world.try_to(catch_all(ann, "two.mail.test"))) == "plan_required");
    CHECK(reason_of(world.try_to(catch_all(ann))) == "plan_required");
    CHECK(reason_of(world.try_to(catch_all(none))) == "plan_required");
    CHECK(reason_of(world.try_to(catch_all(before))) == "plan_required");
    world.end(first);
    CHECK(reason_of(world.try_to(catch_all(ann, "two.mail.test"))) == "*@two.mail.test");
    CHECK(world.held(ann) == std::vector<std::string>{"two.mail.test"});
}

TEST_CASE("a refused catch-all leaves its subdomain to others", "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto full = with_catch_alls(1, 0), ann = with_catch_alls(1);

    CHECK(reason_of(world.try_to(catch_all(full, "ci.mail.test"))) == "inbox_limit");
    CHECK(world.held(full).empty());
    CHECK(reason_of(world.try_to(catch_all(ann, "ci.mail.test"))) == "*@ci.mail.test");
}

TEST_CASE("a subdomain is another account's 30 days after its last inbox, its holder's at once",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto ann = with_catch_alls(1), bob = with_catch_alls(1);
    const auto all = world.make(catch_all(ann, "ci.mail.test"));
    const auto one = world.make(named(ann, "one", "ci.mail.test"));
    CHECK(reason_of(world.try_to(catch_all(ann, "ci.mail.test"))) == "address_taken");
    CHECK(reason_of(world.try_to(catch_all(bob, "ci.mail.test"))) == "address_taken");

    world.end(all);
    CHECK(world.held(ann) == std::vector<std::string>{"ci.mail.test"}); // `one` lives
    CHECK(reason_of(world.try_to(catch_all(bob, "ci.mail.test"))) == "address_taken");
    world.end(one);
    CHECK(world.held(ann).empty());
    CHECK(reason_of(world.try_to(catch_all(bob, "ci.mail.test"))) == "address_taken");
    CHECK(world.count("subdomains WHERE until BETWEEN now() + interval '29 days' AND now() + "
                      "interval '30 days'") == 1);

    const auto again = world.make(catch_all(ann, "ci.mail.test"));
    CHECK(again.id != all.id);
    CHECK(reason_of(world.try_to(catch_all(bob, "ci.mail.test"))) == "address_taken");
    world.end(again);
    world.end_quarantine();
    CHECK(world.make(catch_all(bob, "ci.mail.test")).address == "*@ci.mail.test");
    CHECK(world.held(bob) == std::vector<std::string>{"ci.mail.test"});
    CHECK(reason_of(world.try_to(catch_all(ann, "ci.mail.test"))) == "address_taken");
    CHECK(reason_of(world.try_to(named(ann, "one", "ci.mail.test"))) == "invalid_argument");
    CHECK(reason_of(world.try_to(named(bob, "one", "ci.mail.test"))) == "one@ci.mail.test");
}

TEST_CASE("the holder may have an address in its subdomain again at once, nobody outside of one",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto ann = with_catch_alls(1), bob = with_catch_alls(1);
    world.make(catch_all(ann, "ci.mail.test"));
    const auto first = world.make(named(ann, "one", "ci.mail.test"));
    CHECK(reason_of(world.try_to(named(ann, "one", "ci.mail.test"))) == "address_taken");
    CHECK(reason_of(world.try_to(named(bob, "two", "ci.mail.test"))) == "invalid_argument");
    CHECK(reason_of(world.try_to(named(ann, "admin", "ci.mail.test"))) == "address_taken");

    world.end(first);
    const auto second = world.make(named(ann, "one", "ci.mail.test"));
    CHECK(second.address == first.address);
    inbox_filter at;
    at.address = first.address;
    const auto found = await(world.inboxes.list(ann.account, at, 10, "")).value().items;
    REQUIRE(found.size() == 1);
    CHECK(found.front().id == second.id);

    const auto outside = world.make(named(ann, "three", "mail.test"));
    world.end(outside);
    CHECK(reason_of(world.try_to(named(ann, "three", "mail.test"))) == "address_taken");
}

TEST_CASE("a batch makes a catch-all and inboxes in its subdomain, in its order",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto ann = with_catch_alls(1), bob = with_catch_alls(1);

    const auto created = await(world.inboxes.create_all(
        {named(ann, "early", "ci.mail.test"), catch_all(ann, "ci.mail.test"),
         named(ann, "one", "ci.mail.test"), named(bob, "two", "ci.mail.test"),
         catch_all(bob, "ci.mail.test"), catch_all(ann), named(bob, "plain", "mail.test"),
         catch_all(bob, "other.mail.test"), named(bob, "three", "other.mail.test")},
        seeds::now()));

    const std::vector<std::string> expected{
        "invalid_argument", "*@ci.mail.test",    "one@ci.mail.test",
        "invalid_argument", "address_taken",     "plan_required",
        "plain@mail.test",  "*@other.mail.test", "three@other.mail.test"};
    REQUIRE(created.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(reason_of(created[i]) == expected[i]);
    CHECK(world.count("subdomains WHERE live_inboxes = 2") == 2);
}

TEST_CASE("of 50 accounts that ask for one subdomain at once, one holds it",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    std::vector<awaitable<result<created_inbox>>> attempts;
    for (int i = 0; i < 50; ++i)
        attempts.push_back(
            world.inboxes.create(catch_all(with_catch_alls(1), "ci.mail.test"), seeds::now()));

    int made = 0, taken = 0;
    for (const auto& outcome : await(async::gather(std::move(attempts)))) {
        made += outcome ? 1 : 0;
        taken += reason_of(outcome) == "address_taken" ? 1 : 0;
    }

    CHECK(made == 1);
    CHECK(taken == 49);
    CHECK(world.count("subdomains WHERE live_inboxes = 1") == 1);
}

TEST_CASE("batches that ask for the same subdomains in opposite order do not wait for each other",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto ann = with_catch_alls(3), bob = with_catch_alls(3);
    world.end(world.make(catch_all(with_catch_alls(1), "middle.mail.test")));
    world.end_quarantine();
    batches under_way(world);

    // Each would have its first subdomain, which the other one asks for last.
    {
        const auto held = hold(world, "middle.mail.test");
        REQUIRE(
            under_way.start({catch_all(ann, "one.mail.test"), catch_all(ann, "middle.mail.test"),
                             catch_all(ann, "two.mail.test")}));
        REQUIRE(
            under_way.start({catch_all(bob, "two.mail.test"), catch_all(bob, "middle.mail.test"),
                             catch_all(bob, "one.mail.test")}));
    }
    REQUIRE(under_way.end());

    CHECK(under_way.failed() == 0);
    CHECK(under_way.outcomes() == std::vector<std::string>{"*@one.mail.test", "*@middle.mail.test",
                                                           "*@two.mail.test", "address_taken",
                                                           "address_taken", "address_taken"});
    CHECK(world.held(ann).size() == 3);
    CHECK(world.held(bob).empty());
}

TEST_CASE("batches that ask for each other's subdomains do not wait for each other",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto ann = with_catch_alls(3), bob = with_catch_alls(3);
    world.make(catch_all(ann, "ann.mail.test"));
    world.make(catch_all(bob, "bob.mail.test"));
    world.end(world.make(catch_all(with_catch_alls(1), "middle.mail.test")));
    world.end_quarantine();
    batches under_way(world);

    // Each would have its own subdomain, for the named inbox, and then wait for the other's.
    {
        const auto held = hold(world, "middle.mail.test");
        REQUIRE(
            under_way.start({named(ann, "one", "ann.mail.test"), catch_all(ann, "middle.mail.test"),
                             catch_all(ann, "bob.mail.test")}));
        REQUIRE(
            under_way.start({named(bob, "one", "bob.mail.test"), catch_all(bob, "middle.mail.test"),
                             catch_all(bob, "ann.mail.test")}));
    }
    REQUIRE(under_way.end());

    CHECK(under_way.failed() == 0);
    CHECK(under_way.outcomes() ==
          std::vector<std::string>{"one@ann.mail.test", "*@middle.mail.test", "address_taken",
                                   "one@bob.mail.test", "address_taken", "address_taken"});
}

TEST_CASE("an operator cannot add a domain that an account holds", "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto all = world.make(catch_all(with_catch_alls(1), "ci.mail.test"));

    CHECK(await(world.domains.add("ci.mail.test", std::nullopt)).error().code == errc::conflict);
    world.end(all);
    CHECK(await(world.domains.add("ci.mail.test", std::nullopt)).error().code == errc::conflict);
    world.end_quarantine();
    CHECK(await(world.domains.add("ci.mail.test", std::nullopt)));
}

TEST_CASE("a domain has subdomains while one is held, though it takes none any more",
          "[mailbox][catch-all][postgres]")
{
    open_world world;
    const auto parents = [&] { return await(world.domains.list_parents_of_held()); };
    const auto ann = with_catch_alls(2), bob = with_catch_alls(1);
    CHECK(parents().empty());
    const auto first = world.make(catch_all(ann, "one.mail.test"));
    const auto second = world.make(catch_all(bob, "two.mail.test"));
    await(world.domains.add("a.other.test", std::nullopt)).value();
    await(world.domains.set_subdomains("a.other.test", true)).value();
    const auto third = world.make(catch_all(ann, "ci.a.other.test"));

    await(world.domains.set_subdomains("mail.test", false)).value();
    CHECK(parents() == std::vector<std::string>{"a.other.test", "mail.test"});
    world.end(first);
    world.end(third);
    CHECK(parents() == std::vector<std::string>{"mail.test"});
    world.end(second);
    CHECK(parents().empty());
}

TEST_CASE("a subdomain whose quarantine is over is forgotten", "[mailbox][catch-all][postgres]")
{
    open_world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto ann = with_catch_alls(3);
    world.make(catch_all(ann, "kept.mail.test"));
    world.end(world.make(catch_all(ann, "quarantined.mail.test")));
    world.end(world.make(catch_all(ann, "free.mail.test")));
    world.scratch.execute(
        "UPDATE mailbox.subdomains SET until = now() WHERE domain IN ('free.mail.test')");

    await(purge.purge_inboxes(24h * 30));

    CHECK(world.count("subdomains") == 2);
    CHECK(world.count("subdomains WHERE domain = 'free.mail.test'") == 0);
}
