#include "mailbox/attempt_repository.hpp"

#include "integration/mailbox/seeds.hpp"
#include "mailbox/fault_repository.hpp"
#include "mailbox/login_repository.hpp"
#include "mailbox/purge_repository.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using testing::await;

namespace {

new_attempt attempt_of(const mailbox::inbox& of, const std::string& reply = "451 4.7.1 Later")
{
    new_attempt one;
    one.at = seeds::now();
    one.key = {of.account, of.id, uuid::make_v7(one.at)};
    one.what.set_stage("rcpt");
    one.what.set_reply(reply);
    one.what.set_code(451);
    one.what.set_mail_from("ann@sender.test");
    return one;
}

struct attempt_world : seeds::world
{
    attempt_repository attempts{scratch.db()};
    fault_repository faults{scratch.db()};
    login_repository logins{scratch.db()};
    plans::account_state account = with_captures();

    static plans::account_state with_captures()
    {
        auto state = seeds::account(100);
        state.limits.captures = 10;
        state.limits.catch_alls = 10;
        return state;
    }

    mailbox::inbox create_with_faults()
    {
        auto made = create(account);
        faults::step step;
        step.reply = "451 4.7.1 Later";
        await(faults.replace(made.account, made.id, {step})).value();
        return made;
    }
    errc error_of(account_id owner, const mailbox::inbox& of)
    {
        const auto found = await(attempts.find(owner, of.id));
        return found ? errc::internal : found.error().code;
    }
    std::vector<stored_attempt> find(const mailbox::inbox& of)
    {
        return await(attempts.find(of.account, of.id)).value();
    }
};

awaitable<void> record_all(attempt_repository& replica, std::vector<new_attempt> attempts,
                           int& recorded)
{
    co_await replica.record(std::move(attempts));
    ++recorded;
}

awaitable<void> trim_all(attempt_repository& replica,
                         std::vector<std::pair<account_id, inbox_id>> inboxes, int& trimmed)
{
    co_await replica.trim(std::move(inboxes));
    ++trimmed;
}

} // namespace

TEST_CASE("attempts are found in the order of time, as they were", "[mailbox][attempts][postgres]")
{
    attempt_world world;
    const auto inbox = world.create_with_faults();
    auto first = attempt_of(inbox, "first");
    auto second = attempt_of(inbox, "second");
    second.end = session_end::quit;

    await(world.attempts.record({second, first}));
    await(world.attempts.record({first})); // again, after a lost reply

    const auto found = world.find(inbox);
    REQUIRE(found.size() == 2);
    CHECK(found[0].what.reply() == "first");
    CHECK(found[0].at == first.at);
    CHECK_FALSE(found[0].end);
    CHECK(found[1].what.SerializeAsString() == second.what.SerializeAsString());
    CHECK(found[1].end == session_end::quit);
}

TEST_CASE("the end of a session is noted later", "[mailbox][attempts][postgres]")
{
    attempt_world world;
    const auto inbox = world.create_with_faults();
    const auto first = attempt_of(inbox);
    const auto second = attempt_of(inbox);
    await(world.attempts.record({first, second}));

    await(world.attempts.note_ends(
        {{first.key, session_end::dropped}, {second.key, session_end::closed}}));

    const auto found = world.find(inbox);
    CHECK(found[0].end == session_end::dropped);
    CHECK(found[1].end == session_end::closed);
}

TEST_CASE("an inbox has its newest thousand attempts", "[mailbox][attempts][postgres]")
{
    attempt_world world;
    attempt_repository other(world.scratch.db());
    const auto inbox = world.create_with_faults();
    const auto neighbour = world.create_with_faults();
    await(world.attempts.record({attempt_of(neighbour)}));
    std::vector<new_attempt> many;
    for (int i = 0; i < 1'500; ++i)
        many.push_back(attempt_of(inbox, std::to_string(i)));

    // Two replicas at once.
    int recorded = 0;
    std::vector<new_attempt> of_other;
    for (auto half : {0, 1}) {
        std::vector<new_attempt> part(many.begin() + half * 750, many.begin() + (half + 1) * 750);
        boost::asio::co_spawn(testing::test_host().executor(),
                              record_all(half == 0 ? world.attempts : other, part, recorded),
                              boost::asio::detached);
    }
    REQUIRE(testing::eventually([&] { return recorded == 2; }));
    await(world.attempts.record({attempt_of(inbox, "last")}));

    const auto found = world.find(inbox);
    REQUIRE(found.size() == attempt_repository::max_attempts);
    CHECK(found.front().what.reply() == "501");
    CHECK(found.back().what.reply() == "last");
    CHECK(world.find(neighbour).size() == 1);
}

TEST_CASE("a trim leaves the newest thousand attempts of an inbox", "[mailbox][attempts][postgres]")
{
    attempt_world world;
    attempt_repository other(world.scratch.db());
    const auto inbox = world.create_with_faults();
    const auto neighbour = world.create_with_faults();
    std::vector<new_attempt> many{attempt_of(neighbour)};
    for (int i = 0; i < 1'500; ++i)
        many.push_back(attempt_of(inbox, std::to_string(i)));
    await(world.attempts.record(many));
    const std::vector<std::pair<account_id, inbox_id>> both{{inbox.account, inbox.id},
                                                            {neighbour.account, neighbour.id}};

    // Two replicas at once.
    int trimmed = 0;
    for (auto* replica : {&world.attempts, &other})
        boost::asio::co_spawn(testing::test_host().executor(), trim_all(*replica, both, trimmed),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return trimmed == 2; }));

    CHECK(world.count("attempts WHERE inbox_id = '" + inbox.id.text() + "'") == 1'000);
    CHECK(world.find(inbox).front().what.reply() == "500");
    CHECK(world.find(neighbour).size() == 1);
}

TEST_CASE("attempts are for inboxes that have or had a login or faults, or are catch-alls",
          "[mailbox][attempts][postgres]")
{
    attempt_world world;
    await(world.domains.set_subdomains("mail.test", true)).value();
    const auto plain = world.create(world.account);
    const auto with_faults = world.create_with_faults();
    const auto with_login = world.create(world.account);
    const auto catch_all = world.create_on(world.account, "*", "ci.mail.test");
    await(world.logins.create(world.account, with_login.id,
                              new_login{login_id::make(), crypto::sha256("a")}, seeds::now()))
        .value();

    const auto of_plain = await(world.attempts.find(plain.account, plain.id));
    REQUIRE_FALSE(of_plain);
    CHECK(of_plain.error().code == errc::not_found);
    CHECK(of_plain.error().message == "Inbox " + plain.id.text() +
                                          " has no report on its senders: it never had a login "
                                          "or faults, and is no catch-all");
    CHECK(await(world.attempts.find(account_id::make(), plain.id)).error().message ==
          "Inbox " + plain.id.text() + " does not exist");
    for (const auto& inbox : {with_faults, with_login, catch_all})
        CHECK(world.find(inbox).empty());

    // Also once they are over.
    await(world.faults.replace(with_faults.account, with_faults.id, {})).value();
    await(world.logins.end(with_login.account, with_login.id)).value();
    CHECK(world.find(with_faults).empty());
    CHECK(world.find(with_login).empty());
}

TEST_CASE("another account's attempts are not found", "[mailbox][attempts][postgres]")
{
    attempt_world world;
    const auto inbox = world.create_with_faults();
    const auto stranger = account_id::make();
    await(world.attempts.record({attempt_of(inbox)}));
    auto foreign = attempt_of(inbox);
    foreign.key.account = stranger;
    await(world.attempts.record({foreign}));

    CHECK(world.error_of(stranger, inbox) == errc::not_found);
    CHECK(await(world.attempts.find(stranger, inbox.id)).error().message ==
          "Inbox " + inbox.id.text() + " does not exist");
    CHECK(world.find(inbox).size() == 1);
    CHECK(world.count("attempts") == 1);
}

TEST_CASE("attempts are shown for 72 hours, and purged then", "[mailbox][attempts][postgres]")
{
    attempt_world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto inbox = world.create_with_faults();
    auto old = attempt_of(inbox, "old");
    old.at -= 72h + 1min;
    auto young = attempt_of(inbox, "young");
    young.at -= 71h;
    await(world.attempts.record({old, young}));

    const auto shown = world.find(inbox);
    REQUIRE(shown.size() == 1);
    CHECK(shown[0].what.reply() == "young");
    CHECK(world.count("attempts") == 2);

    await(purge.purge_inboxes(24h * 30));
    CHECK(world.count("attempts") == 1);
}

TEST_CASE("attempts go with the mail of an inbox that has ended", "[mailbox][attempts][postgres]")
{
    attempt_world world;
    purge_repository purge(world.scratch.db(), "test");
    const auto ended = world.create_with_faults();
    const auto live = world.create_with_faults();
    for (const auto& inbox : {ended, live})
        await(world.attempts.record({attempt_of(inbox)}));
    world.add_email({ended}, "one");
    await(world.endings.expire(ended.account, ended.id)).value();
    CHECK(world.error_of(ended.account, ended) == errc::not_found);

    await(purge.purge_mail());
    await(world.attempts.record({attempt_of(ended)})); // of a session that was still open

    CHECK(world.count("attempts") == 1);
    CHECK(world.find(live).size() == 1);
}
