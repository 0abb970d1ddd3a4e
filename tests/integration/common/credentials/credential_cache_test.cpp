#include "common/credentials/credential_cache.hpp"

#include "common/credentials/capture_login.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/account_state_repository.hpp"
#include "mailbox/login_repository.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace tempinbox;
using namespace tempinbox::credentials;
using namespace std::chrono_literals;
using testing::await;
using steady = std::chrono::steady_clock;

namespace {

// A change has to be in force that soon, and a read of changes at a bad moment takes a while.
constexpr auto in_force_within = 1s;

// Two replicas' caches over one database of logins, with an account, a capture inbox, and ways to
// change them beside the caches.
class arranged_logins
{
public:
    arranged_logins()
    {
        account = mailbox::seeds::account();
        account.limits.captures = 5;
        inbox = world.create(account);
        user = create(inbox, "secret");
        for (auto* cache : {&first_, &second_})
            cache->start();
        REQUIRE(testing::eventually([&] { return accepts(user, "secret") && is_cached(); }));
    }
    ~arranged_logins()
    {
        for (auto* cache : {&first_, &second_})
            await(cache->stop());
    }

    std::string create(const mailbox::inbox& of, const std::string& password)
    {
        return await(beside.create(account, of.id,
                                   {login_id::make(), capture_password_digest(password)},
                                   mailbox::seeds::now()))
            .value()
            .user;
    }

    // Whether both replicas take the password.
    bool accepts(const std::string& name, const std::string& password)
    {
        return accepts(first_, name, password) && accepts(second_, name, password);
    }
    // Whether neither does.
    bool refuses(const std::string& name, const std::string& password)
    {
        return !accepts(first_, name, password) && !accepts(second_, name, password);
    }
    // How long it took until neither replica took the password any more.
    steady::duration time_to_refusal(const std::string& password)
    {
        const auto began = steady::now();
        REQUIRE(testing::eventually([&] { return refuses(user, password); }));
        return steady::now() - began;
    }
    // Whether a look-up needs no statement.
    bool is_cached()
    {
        return !await(first_.find(user, lookups::all)).value().was_looked_up &&
               !await(second_.find(user, lookups::all)).value().was_looked_up;
    }

    mailbox::seeds::world world;
    plans::account_state account;
    mailbox::inbox inbox;
    std::string user;
    mailbox::login_repository beside{world.scratch.db()};

private:
    using cache = credential_cache<mailbox::login_owner>;

    static bool accepts(cache& replica, const std::string& name, const std::string& password)
    {
        const auto found = await(replica.find(name, lookups::all)).value().owner;
        const auto now = mailbox::seeds::now();
        return found && found->is_active(now) &&
               found->is_password(capture_password_digest(password), now);
    }

    credential_kind<mailbox::login_owner> kind()
    {
        auto& metrics = testing::test_host().metrics();
        return {
            [this](std::string name) { return logins_.find_by_user(std::move(name)); },
            [this](std::optional<std::int64_t> after) { return logins_.read_changes(after); },
            "read_login_changes",
            "logins",
            failure{errc::rate_limited, "not now"},
            failure{errc::unavailable, "too many"},
            metrics.counter("test_login_lookups_total", "Logins looked up"),
            metrics.counter("test_login_change_reads_failed_total", "Reads that failed"),
            metrics.gauge("test_login_change_version", "Version read"),
        };
    }

    mailbox::login_repository logins_{world.scratch.db()};
    lookup_limiter strangers_{
        testing::test_host(),
        testing::test_host().metrics().counter("test_login_lookups_refused_total", "Refused"), 1};
    cache first_{testing::test_host(), kind(), strangers_};
    cache second_{testing::test_host(), kind(), strangers_};
};

} // namespace

TEST_CASE("a rotated password is good for its grace on every replica, and no longer",
          "[credentials][postgres]")
{
    arranged_logins arranged;

    REQUIRE(await(arranged.beside.rotate(
        arranged.account.account, arranged.inbox.id,
        {login_id::make(), capture_password_digest("second"), std::chrono::seconds(60)})));
    REQUIRE(testing::eventually([&] { return arranged.accepts(arranged.user, "second"); }));
    CHECK(arranged.accepts(arranged.user, "secret"));

    REQUIRE(await(arranged.beside.rotate(
        arranged.account.account, arranged.inbox.id,
        {login_id::make(), capture_password_digest("third"), std::chrono::seconds(0)})));
    CHECK(arranged.time_to_refusal("second") < in_force_within);
    CHECK(arranged.refuses(arranged.user, "secret"));
    CHECK(arranged.accepts(arranged.user, "third"));
}

TEST_CASE("an ended login is refused by every replica within a second", "[credentials][postgres]")
{
    arranged_logins arranged;

    REQUIRE(await(arranged.beside.end(arranged.account.account, arranged.inbox.id)));

    CHECK(arranged.time_to_refusal("secret") < in_force_within);
}

TEST_CASE("the login of an inbox that ended is refused within a second", "[credentials][postgres]")
{
    arranged_logins arranged;

    REQUIRE(await(arranged.world.endings.expire(arranged.account.account, arranged.inbox.id)));

    CHECK(arranged.time_to_refusal("secret") < in_force_within);
}

TEST_CASE("a plan with fewer captures ends the younger logins within a second, and gives them back",
          "[credentials][postgres]")
{
    arranged_logins arranged;
    const auto younger = arranged.create(arranged.world.create(arranged.account), "younger");
    REQUIRE(testing::eventually([&] { return arranged.accepts(younger, "younger"); }));
    mailbox::account_state_repository states(arranged.world.scratch.db());

    arranged.account.version = 2;
    arranged.account.limits.captures = 1;
    await(states.put({arranged.account}));
    const auto began = steady::now();
    REQUIRE(testing::eventually([&] { return arranged.refuses(younger, "younger"); }));

    CHECK(steady::now() - began < in_force_within);
    CHECK(arranged.accepts(arranged.user, "secret"));
    arranged.account.version = 3;
    arranged.account.limits.captures = 5;
    await(states.put({arranged.account}));
    CHECK(testing::eventually([&] { return arranged.accepts(younger, "younger"); }));
}

TEST_CASE("a login that was unknown is good as soon as it is made", "[credentials][postgres]")
{
    arranged_logins arranged;
    const auto other = arranged.world.create(arranged.account);

    CHECK(arranged.refuses("cap_000000000000", "secret"));
    CHECK(arranged.refuses("cap_000000000000", "secret"));
    const auto user = arranged.create(other, "other");

    CHECK(testing::eventually([&] { return arranged.accepts(user, "other"); }));
}
