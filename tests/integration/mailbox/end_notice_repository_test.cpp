#include "mailbox/end_notice_repository.hpp"

#include "common/async/gather.hpp"
#include "integration/common/postgres/rows_read.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/login_repository.hpp"
#include "mailbox/purge_repository.hpp"
#include "mailbox/renewal_repository.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;
using testing::await;

namespace {

constexpr auto week = 24h * 7;

plans::account_state account_with_captures()
{
    auto state = seeds::account(100);
    state.limits.api_access = true;
    state.limits.captures = 20;
    state.limits.catch_alls = 5;
    return state;
}

struct notice_world : seeds::world
{
    end_notice_repository notices{scratch.db()};
    login_repository logins{scratch.db()};
    plans::account_state account = account_with_captures();

    notice_world() { await(domains.set_subdomains("mail.test", true)).value(); }

    inbox make(std::chrono::seconds life, std::optional<std::string> local_part = std::nullopt,
               std::optional<std::string> domain = std::nullopt)
    {
        new_inbox requested;
        requested.account = account;
        requested.id = inbox_id::make();
        requested.ttl = life;
        requested.local_part = std::move(local_part);
        requested.domain = std::move(domain);
        return await(inboxes.create(requested, seeds::now())).value().inbox;
    }

    inbox make_capture(std::chrono::seconds life)
    {
        new_inbox requested;
        requested.account = account;
        requested.id = inbox_id::make();
        requested.ttl = life;
        requested.login = new_login{login_id::make(), crypto::sha256(requested.id.text())};
        return await(inboxes.create(requested, seeds::now())).value().inbox;
    }

    inbox make_used_capture(std::chrono::seconds life)
    {
        auto capture = make_capture(life);
        use(capture);
        return capture;
    }

    // Its login, now.
    void use(const inbox& capture)
    {
        await(logins.record_uses({{capture.account, capture.login->user, seeds::now()}}));
    }

    // As if all had been made so long ago.
    void let_pass(std::chrono::seconds time)
    {
        const auto by = " - interval '" + std::to_string(time.count()) + " seconds'";
        scratch.execute("UPDATE mailbox.inboxes SET created_at = created_at" + by +
                        ", first_expires_at = first_expires_at" + by + ", expires_at = expires_at" +
                        by + ", last_email_at = last_email_at" + by);
        scratch.execute("UPDATE mailbox.capture_logins SET last_used_at = last_used_at" + by);
        scratch.execute("UPDATE mailbox.end_notices SET expires_at = expires_at" + by +
                        ", due_at = due_at" + by);
    }

    std::vector<end_notice> claim() { return await(notices.claim(100)); }
    void settle(const end_notice& notice)
    {
        await(notices.settle(notice.account, notice.inbox, notice.id));
    }

    // The days of the notices, which are settled.
    std::vector<int> notify()
    {
        std::vector<int> days;
        for (const auto& notice : claim()) {
            days.push_back(notice.days);
            settle(notice);
        }
        return days;
    }
};

using days_left = std::vector<int>;

} // namespace

TEST_CASE("a capture in use has a notice three days before its end, and one a day before",
          "[mailbox][end-notices][postgres]")
{
    notice_world world;
    const auto capture = world.make_used_capture(week);
    world.let_pass(95h);
    CHECK(world.claim().empty());

    world.let_pass(2h);
    const auto first = world.claim();
    REQUIRE(first.size() == 1);
    CHECK(first[0].account == capture.account);
    CHECK(first[0].inbox == capture.id);
    CHECK(first[0].address == capture.address);
    CHECK(first[0].expires_at == world.read(capture).expires_at);
    CHECK(first[0].days == 3);
    CHECK(first[0].has_login);
    world.settle(first[0]);

    world.let_pass(46h);
    CHECK(world.claim().empty());
    world.let_pass(2h);
    CHECK(world.notify() == days_left{1});
    world.let_pass(22h);
    CHECK(world.claim().empty());
}

TEST_CASE("a claimed notice of an end is pending again after five minutes, unless it is settled",
          "[mailbox][end-notices][postgres]")
{
    notice_world world;
    world.make_used_capture(week);
    world.let_pass(97h);

    const auto first = world.claim();
    CHECK(world.claim().empty());
    world.let_pass(5min + 1s);
    const auto second = world.claim();
    REQUIRE(second.size() == 1);
    CHECK(second[0].id == first.at(0).id);
    world.settle(second[0]);
    world.let_pass(5min + 1s);

    CHECK(world.claim().empty());
}

TEST_CASE("a notice that is not settled comes later each time, and after the others",
          "[mailbox][end-notices][postgres]")
{
    notice_world world;
    const auto refused = world.make_used_capture(week - 2h);
    const auto other = world.make_used_capture(week);
    world.let_pass(95h);
    REQUIRE(world.claim().at(0).inbox == refused.id);
    world.let_pass(5min + 1s);
    REQUIRE(world.claim().at(0).inbox == refused.id);
    world.let_pass(5min + 1s);
    CHECK(world.claim().empty());
    world.let_pass(2h);

    const auto first = await(world.notices.claim(1)), second = await(world.notices.claim(1));

    REQUIRE(first.size() == 1);
    REQUIRE(second.size() == 1);
    CHECK(first[0].inbox == other.id);
    CHECK(second[0].inbox == refused.id);
}

TEST_CASE("what nobody claimed in time is one notice, that of the last day",
          "[mailbox][end-notices][postgres]")
{
    notice_world world;
    world.make_used_capture(week);
    world.let_pass(week - 1h);

    CHECK(world.notify() == days_left{1});
    world.let_pass(2h);
    CHECK(world.claim().empty());
}

TEST_CASE("a login that moves the end moves the notices with it",
          "[mailbox][end-notices][postgres]")
{
    notice_world world;
    renewal_repository renewals(world.scratch.db(), "test");
    const auto capture = world.make_used_capture(week);
    world.let_pass(97h);
    const auto before = world.claim();
    REQUIRE(before.size() == 1);

    world.use(capture);
    REQUIRE(await(renewals.renew({{capture.account, capture.id}}, use_kind::login, seeds::now()))
                .inboxes.size() == 1);
    CHECK(world.claim().empty());
    world.let_pass(97h);
    const auto after = world.claim();

    REQUIRE(after.size() == 1);
    CHECK(after[0].days == 3);
    CHECK(after[0].id != before[0].id);
    world.settle(before[0]); // late
    world.let_pass(5min + 1s);
    CHECK(world.notify() == days_left{3});
}

TEST_CASE("inboxes that nobody relies on have no notices", "[mailbox][end-notices][postgres]")
{
    notice_world world;
    world.make(week);
    world.make_capture(week);
    const auto revoked = world.make_used_capture(week);
    REQUIRE(await(world.logins.end(revoked.account, revoked.id)));
    const auto ended = world.make_used_capture(week);
    REQUIRE(await(world.endings.expire(ended.account, ended.id)));
    const auto last_used_long_ago = world.make_used_capture(week);
    world.scratch.execute("UPDATE mailbox.capture_logins SET last_used_at = now() - interval '3 "
                          "days 1 minute' WHERE inbox_id = '" +
                          last_used_long_ago.id.text() + "'");

    world.let_pass(97h);

    CHECK(world.claim().empty());
}

TEST_CASE("an inbox that lives less than twice as long has no notice",
          "[mailbox][end-notices][postgres]")
{
    notice_world world;
    for (const auto& [life, expected] :
         {std::pair{1h, days_left{}}, std::pair{47h, days_left{}}, std::pair{48h, days_left{1}},
          std::pair{143h, days_left{1}}, std::pair{144h, days_left{3, 1}}}) {
        CAPTURE(life.count());
        world.make_used_capture(life);
        days_left seen;
        for (auto passed = 0h; passed < life; passed += 1h) {
            const auto now = world.notify();
            seen.insert(seen.end(), now.begin(), now.end());
            world.let_pass(1h);
        }
        CHECK(seen == expected);
        CHECK(await(world.endings.expire_due()).ended.size() == 1);
    }
}

TEST_CASE("a catch-all that gets mail has notices, inboxes in its subdomain have none",
          "[mailbox][end-notices][postgres]")
{
    notice_world world;
    const auto all = world.make(week, "*", "ci.mail.test");
    const auto one = world.make(week, "one", "ci.mail.test");
    world.make(week, "*", "idle.mail.test");
    world.let_pass(97h);
    world.add_emails(all, 1);
    world.add_emails(one, 1);

    const auto pending = world.claim();

    REQUIRE(pending.size() == 1);
    CHECK(pending[0].inbox == all.id);
    CHECK(pending[0].address == "*@ci.mail.test");
    CHECK_FALSE(pending[0].has_login);
}

TEST_CASE("of processes that claim at once, one has each notice",
          "[mailbox][end-notices][postgres]")
{
    notice_world world;
    end_notice_repository other(world.scratch.db());
    for (int i = 0; i < 10; ++i)
        world.make_used_capture(week);
    world.let_pass(97h);

    std::vector<awaitable<std::vector<end_notice>>> claims;
    for (int i = 0; i < 8; ++i)
        claims.push_back((i % 2 == 0 ? world.notices : other).claim(100));
    std::vector<inbox_id> claimed;
    for (const auto& batch : await(async::gather(std::move(claims))))
        for (const auto& notice : batch)
            claimed.push_back(notice.inbox);

    CHECK(claimed.size() == 10);
    std::sort(claimed.begin(), claimed.end());
    CHECK(std::adjacent_find(claimed.begin(), claimed.end()) == claimed.end());
}

TEST_CASE("a claim has a limit, and takes those that end first", "[mailbox][end-notices][postgres]")
{
    notice_world world;
    const auto last = world.make_used_capture(week);
    world.let_pass(1min);
    const auto first = world.make_used_capture(week - 1h);
    world.let_pass(97h);

    const auto one = await(world.notices.claim(1)), rest = await(world.notices.claim(1));

    REQUIRE(one.size() == 1);
    REQUIRE(rest.size() == 1);
    CHECK(one[0].inbox == first.id);
    CHECK(rest[0].inbox == last.id);
}

TEST_CASE("notices are purged with their inbox", "[mailbox][end-notices][postgres]")
{
    notice_world world;
    const auto capture = world.make_used_capture(week);
    world.make_used_capture(week);
    world.let_pass(97h);
    CHECK(world.claim().size() == 2);
    REQUIRE(await(world.endings.expire(capture.account, capture.id)));
    purge_repository purge(world.scratch.db(), "test");

    await(purge.purge_inboxes(0s));

    CHECK(world.count("end_notices") == 1);
}

TEST_CASE("notices are claimed without reading the inboxes that nobody relies on",
          "[mailbox][end-notices][postgres]")
{
    constexpr int relied_on = 200, others = 5'000;
    notice_world world;
    world.add_many_inboxes(world.account.account, relied_on);
    world.scratch.execute("INSERT INTO mailbox.capture_logins (account_id, login_id, inbox_id, "
                          "login, secret_sha256, version, last_used_at) SELECT account_id, "
                          "gen_random_uuid(), inbox_id, 'cap_' || inbox_id, "
                          "sha256(inbox_id::text::bytea), 1, now() FROM mailbox.inboxes");
    world.scratch.execute("INSERT INTO mailbox.subdomains (account_id, domain, live_inboxes, "
                          "until) SELECT account_id, login || '.mail.test', 1, '-infinity' FROM "
                          "mailbox.capture_logins");
    world.add_many_inboxes(account_id::make(), others);
    world.scratch.execute("INSERT INTO mailbox.addresses (address, account_id, inbox_id, state, "
                          "until) SELECT n || '@mail.test', gen_random_uuid(), gen_random_uuid(), "
                          "'live', now() + interval '1 day' FROM generate_series(1, " +
                          std::to_string(others) + ") AS n");
    world.scratch.execute("ANALYZE mailbox.inboxes, mailbox.addresses, mailbox.capture_logins, "
                          "mailbox.subdomains");
    postgres::pool db(testing::test_host(), testing::one_connection(world.scratch));
    end_notice_repository notices(db);
    const auto before = testing::rows_read(db, world.scratch, "^(inboxes|addresses)$");

    CHECK(await(notices.claim(100)).empty());

    CHECK(testing::rows_read(db, world.scratch, "^(inboxes|addresses)$") - before < others / 2);
}
