#include "mailbox/fault_repository.hpp"

#include "common/core/encoding.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/login_repository.hpp"
#include "mailbox/purge_repository.hpp"
#include "unit/common/log/captured_lines.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using faults::schedule;
using faults::stage;
using faults::step;
using kind = faults::schedule::kind;
using testing::await;

namespace {

step refusal(stage at, std::string reply, schedule when = {})
{
    step made;
    made.at = at;
    made.reply = std::move(reply);
    made.when = when;
    return made;
}

awaitable<void> claim_all(fault_repository& replica, std::vector<fault_claim> claims,
                          std::vector<claimed_fault>& claimed)
{
    for (auto& each : co_await replica.claim(std::move(claims)))
        claimed.push_back(std::move(each));
}

// Inboxes, and what one replica or another sees of their faults.
struct fault_world : seeds::world
{
    fault_repository faults{scratch.db()};
    login_repository logins{scratch.db()};
    plans::account_state account = with_captures();

    static plans::account_state with_captures()
    {
        auto state = seeds::account(100);
        state.limits.captures = 10;
        return state;
    }

    void give_login(const inbox& to)
    {
        await(logins.create(account, to.id,
                            new_login{login_id::make(), crypto::sha256(to.id.text())},
                            seeds::now()))
            .value();
    }

    fault_set set(const inbox& of, std::vector<step> steps)
    {
        return await(faults.replace(of.account, of.id, std::move(steps))).value();
    }

    std::string error_of(const inbox& of, std::vector<step> steps)
    {
        const auto replaced = await(faults.replace(of.account, of.id, std::move(steps)));
        return replaced ? "" : replaced.error().message;
    }

    std::vector<std::int64_t> used(const inbox& of)
    {
        return await(faults.find(of.account, of.id)).value().used;
    }

    static fault_claim claim_of(stage at, const std::vector<inbox>& inboxes,
                                const std::string& recipient = "bob@a.example")
    {
        fault_claim claim;
        claim.at = at;
        for (const auto& each : inboxes)
            claim.parts.push_back({each.account, each.id, {recipient}, {}});
        return claim;
    }

    std::string reply_to(const fault_claim& claim)
    {
        const auto claimed = await(faults.claim({claim})).at(0);
        return claimed.played ? claimed.played->reply : "";
    }
};

} // namespace

TEST_CASE("a set of faults is found with what was used of it", "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto inbox = world.create(world.account);
    const std::vector<step> steps{refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 2}),
                                  refusal(stage::end, "552 5.2.2 b")};

    CHECK(await(world.faults.find(inbox.account, inbox.id)).value().steps.empty());
    CHECK(world.set(inbox, steps).used == std::vector<std::int64_t>{0, 0});
    CHECK(world.reply_to(fault_world::claim_of(stage::rcpt, {inbox})) == "451 4.7.1 a");
    CHECK(world.reply_to(fault_world::claim_of(stage::rcpt, {inbox})) == "451 4.7.1 a");
    CHECK(world.reply_to(fault_world::claim_of(stage::rcpt, {inbox})) == "");
    CHECK(world.reply_to(fault_world::claim_of(stage::end, {inbox})) == "552 5.2.2 b");

    CHECK(await(world.faults.find(inbox.account, inbox.id)).value().steps == steps);
    CHECK(world.used(inbox) == std::vector<std::int64_t>{2, 1});
}

TEST_CASE("another set counts from 0", "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto inbox = world.create(world.account);
    const std::vector<step> once{refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 1})};
    world.set(inbox, once);
    auto claim = fault_world::claim_of(stage::rcpt, {inbox});
    claim.parts[0].settled = await(world.faults.claim({claim})).at(0).settled.at(0);

    CHECK(world.reply_to(claim) == "451 4.7.1 a"); // the same transaction
    CHECK(world.used(inbox) == std::vector<std::int64_t>{1});
    world.set(inbox, once);
    CHECK(world.used(inbox) == std::vector<std::int64_t>{0});
    CHECK(world.reply_to(claim) == "451 4.7.1 a"); // what it had settled was of another set
    CHECK(world.used(inbox) == std::vector<std::int64_t>{1});

    world.set(inbox, {});
    CHECK(world.reply_to(fault_world::claim_of(stage::rcpt, {inbox})) == "");
    CHECK(world.count("fault_counts") == 0);
}

TEST_CASE("no two replicas play the same use", "[mailbox][faults][postgres]")
{
    fault_world world;
    fault_repository other(world.scratch.db());
    const auto inbox = world.create(world.account);
    const auto second = world.create(world.account);
    world.set(inbox, {refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 7})});
    world.set(second, {refusal(stage::rcpt, "451 4.7.1 a", {kind::every, 2})});

    const auto claims_of = [&] {
        std::vector<fault_claim> claims;
        for (int i = 0; i < 10; ++i) {
            claims.push_back(fault_world::claim_of(stage::rcpt, {i % 2 == 0 ? inbox : second}));
            claims.push_back(fault_world::claim_of(stage::rcpt, {i % 2 == 0 ? second : inbox}));
        }
        return claims;
    };
    std::vector<claimed_fault> claimed;
    for (auto* replica : {&world.faults, &other})
        boost::asio::co_spawn(testing::test_host().executor(),
                              claim_all(*replica, claims_of(), claimed), boost::asio::detached);
    REQUIRE(testing::eventually([&] { return claimed.size() == 40; }));

    CHECK(std::ranges::count_if(claimed, [](const auto& one) { return one.played.has_value(); }) ==
          7 + 10);
    CHECK(world.used(inbox) == std::vector<std::int64_t>{7});
    CHECK(world.used(second) == std::vector<std::int64_t>{10});
}

TEST_CASE("a recipient is counted by itself beside a thousand others",
          "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto inbox = world.create(world.account);
    auto grey = refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 1});
    grey.is_per_recipient = true;
    world.set(inbox, {grey});
    const auto add_counts = [&](const std::string& counts) {
        world.scratch.execute(
            "INSERT INTO mailbox.fault_counts (account_id, inbox_id, step, recipient, seen, used) "
            "SELECT '" +
            inbox.account.text() + "', '" + inbox.id.text() + "', 0, " + counts);
    };
    add_counts("'', 999, 999");
    add_counts("n || '@a.example', 0, 1 FROM generate_series(1, 999) AS n");
    const auto claim_for = [&](const std::string& recipient) {
        return fault_world::claim_of(stage::rcpt, {inbox}, recipient);
    };

    CHECK(world.reply_to(claim_for("7@a.example")) == "");
    CHECK(world.reply_to(claim_for("new@a.example")) == "451 4.7.1 a");
    CHECK(world.reply_to(claim_for("NEW@a.example")) == "");
    const auto one_too_many = await(world.faults.claim({claim_for("newer@a.example")})).at(0);
    CHECK(one_too_many.is_uncounted);
    CHECK_FALSE(one_too_many.played);
    CHECK(world.used(inbox) == std::vector<std::int64_t>{1'000});
}

TEST_CASE("a message for several inboxes meets a fault only if all have it",
          "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto stranger = seeds::account();
    const auto ours = world.create(world.account);
    const auto theirs = world.create(stranger);
    const std::vector<step> once{refusal(stage::end, "452 4.2.2 a", {kind::times, 1})};
    world.set(ours, once);
    const auto both = fault_world::claim_of(stage::end, {ours, theirs});

    const auto claimed = await(world.faults.claim({both})).at(0);
    CHECK_FALSE(claimed.played);
    CHECK(claimed.is_shared);
    CHECK(world.used(ours) == std::vector<std::int64_t>{0});

    world.set(theirs, {refusal(stage::end, "552 5.2.2 b")});
    CHECK(world.reply_to(both) == "");
    CHECK(world.used(theirs) == std::vector<std::int64_t>{0});

    world.set(theirs, once);
    CHECK(world.reply_to(both) == "452 4.2.2 a");
    CHECK(world.used(ours) == std::vector<std::int64_t>{1});
    CHECK(world.used(theirs) == std::vector<std::int64_t>{1});
    const auto none_left = await(world.faults.claim({both})).at(0);
    CHECK_FALSE(none_left.played);
    CHECK_FALSE(none_left.is_shared);
}

TEST_CASE("a claim beside inboxes without steps says what is due, and counts nothing",
          "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto inbox = world.create(world.account);
    world.set(inbox, {refusal(stage::end, "452 4.2.2 a", {kind::times, 1}),
                      refusal(stage::end, "451 4.3.0 b", {kind::every, 2})});
    const auto alone = fault_world::claim_of(stage::end, {inbox});
    auto shared = alone;
    shared.is_shared = true;
    const auto is_noted = [&] {
        const auto claimed = await(world.faults.claim({shared})).at(0);
        CHECK_FALSE(claimed.played);
        CHECK(claimed.settled.at(0).decided.empty());
        return claimed.is_shared;
    };

    CHECK(is_noted());
    CHECK(world.reply_to(alone) == "452 4.2.2 a");
    CHECK_FALSE(is_noted()); // used up, and the second is not due
    CHECK(world.reply_to(alone) == "");
    CHECK(is_noted());
    CHECK(world.reply_to(alone) == "451 4.3.0 b");
    CHECK(world.used(inbox) == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("a use is given back to the set that it is of", "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto inbox = world.create(world.account);
    const std::vector<step> once{refusal(stage::end, "452 4.2.2 a", {kind::times, 1})};
    world.set(inbox, once);
    const auto claim = fault_world::claim_of(stage::end, {inbox});
    auto returned = claim;
    returned.is_return = true;
    returned.parts[0].settled = await(world.faults.claim({claim})).at(0).settled.at(0);
    CHECK(world.reply_to(claim) == "");

    CHECK_FALSE(await(world.faults.claim({returned})).at(0).played);
    CHECK(world.used(inbox) == std::vector<std::int64_t>{0});
    CHECK(world.reply_to(claim) == "452 4.2.2 a");

    world.set(inbox, once);
    CHECK(world.reply_to(claim) == "452 4.2.2 a");
    await(world.faults.claim({returned}));
    CHECK(world.used(inbox) == std::vector<std::int64_t>{1});
}

TEST_CASE("steps of a later version are as none, and stop no other claim",
          "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto later = world.create(world.account);
    const auto neighbour = world.create(seeds::account());
    const std::vector<step> steps{refusal(stage::rcpt, "451 4.7.1 a")};
    world.set(later, steps);
    world.set(neighbour, steps);
    // FaultSteps with one of the stage "quit", and what is no message at all.
    const std::vector<std::string> unreadable{"\x0a\x06\x0a\x04quit", "\xff"};
    const auto write = [&](const std::string& bytes) {
        world.scratch.execute("UPDATE mailbox.fault_sets SET steps = '\\x" + to_hex(bytes) +
                              "' WHERE inbox_id = '" + later.id.text() + "'");
    };
    const auto replies = [&] {
        std::string played;
        for (const auto& each :
             await(world.faults.claim({fault_world::claim_of(stage::rcpt, {later}),
                                       fault_world::claim_of(stage::rcpt, {neighbour})})))
            played += each.played ? "x" : ".";
        return played;
    };

    std::string played;
    const auto lines = testing::captured_lines([&] {
        for (const auto& bytes : unreadable) {
            write(bytes);
            played += replies();
        }
    });

    CHECK(played == ".x.x");
    CHECK(std::ranges::count_if(lines, [&](const std::string& line) {
              return line.find("cannot be read, and are not played") != std::string::npos &&
                     line.find(later.id.text()) != std::string::npos;
          }) == 1);
    world.set(later, steps);
    CHECK(replies() == "xx");
}

TEST_CASE("steps before a recipient, or that close on one, need a login",
          "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto inbox = world.create(world.account);
    step cut;
    cut.at = stage::rcpt;
    cut.cut = faults::cut_kind::unstored;

    CHECK(world.error_of(
              inbox, {refusal(stage::rcpt, "451 4.7.1 a"), refusal(stage::mail, "421 4.7.0 b")}) ==
          "steps[1].stage must be rcpt, data or end, not mail: the inbox has no login");
    for (const auto& closing : {cut, refusal(stage::rcpt, "421 4.7.0 a")})
        CHECK(world.error_of(inbox, {closing}) ==
              "steps[0] must not close the connection at rcpt (421, cut): the inbox has no login, "
              "and its mail may be for others too");
    CHECK(world.error_of(inbox, {refusal(stage::end, "421 4.7.0 a")}) == "");

    world.give_login(inbox);
    CHECK(world.error_of(inbox, {refusal(stage::auth, "454 4.7.0 a"), cut}) == "");
}

TEST_CASE("faults are for live inboxes of their account", "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto inbox = world.create(world.account);
    const auto stranger = account_id::make();
    const std::vector<step> steps{refusal(stage::rcpt, "451 4.7.1 a")};
    world.set(inbox, steps);

    CHECK(await(world.faults.find(stranger, inbox.id)).error().code == errc::not_found);
    CHECK(await(world.faults.replace(stranger, inbox.id, steps)).error().code == errc::not_found);
    world.make_due();
    CHECK(await(world.faults.find(inbox.account, inbox.id)).error().code == errc::not_found);
    CHECK(await(world.faults.replace(inbox.account, inbox.id, {})).error().code == errc::not_found);
}

TEST_CASE("changes of sets are read in their order, each once", "[mailbox][faults][postgres]")
{
    fault_world world;
    const auto first = world.create(world.account);
    const auto second = world.create(world.account);
    world.set(first, {refusal(stage::rcpt, "451 4.7.1 a")});
    world.set(second, {refusal(stage::end, "451 4.7.1 a")});

    auto changes = await(world.faults.read_changes(0));
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].inbox == first.id);
    CHECK(changes[0].stages.has(stage::rcpt));
    CHECK_FALSE(changes[0].stages.has(stage::end));
    CHECK(changes[1].inbox == second.id);
    const auto last = changes[1].version;
    CHECK(await(world.faults.read_changes(last)).empty());

    world.set(first, {});
    changes = await(world.faults.read_changes(last));
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].inbox == first.id);
    CHECK(changes[0].stages.empty());
}

TEST_CASE("faults go with the mail of an inbox that has ended, or with one that had none",
          "[mailbox][faults][postgres]")
{
    fault_world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto with_mail = world.create(world.account);
    const auto without = world.create(world.account);
    const auto live = world.create(world.account);
    world.add_email({with_mail}, "one");
    for (const auto& inbox : {with_mail, without, live}) {
        world.set(inbox, {refusal(stage::rcpt, "451 4.7.1 a")});
        world.reply_to(fault_world::claim_of(stage::rcpt, {inbox}));
    }
    for (const auto& inbox : {with_mail, without})
        await(world.endings.expire(inbox.account, inbox.id)).value();

    const auto changes = await(world.faults.read_changes(0));
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].inbox == live.id);
    await(purge.purge_mail());
    CHECK(world.count("fault_sets") == 2);
    await(purge.purge_inboxes(0s));

    CHECK(world.count("fault_sets") == 1);
    CHECK(world.count("fault_counts") == 1);
    CHECK(world.used(live) == std::vector<std::int64_t>{1});
}
