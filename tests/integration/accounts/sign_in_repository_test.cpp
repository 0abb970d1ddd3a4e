#include "accounts/sign_in_repository.hpp"

#include "accounts/account_repository.hpp"
#include "accounts/sign_in_tokens.hpp"
#include "common/core/encoding.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

class arranged_sign_in
{
public:
    testing::scratch_database scratch{{"accounts"}};
    account_repository accounts{scratch.db(), state_publisher("test", nullptr)};
    sign_in_repository sign_in{scratch.db()};

    account_id make(const std::string& email, const std::string& hash = "")
    {
        return await(accounts.create(account_id::make(), email, "free", hash)).value().id();
    }
    attempt_status begin(std::vector<attempt_subject> subjects, uuid attempt = uuid::make_v7())
    {
        return await(sign_in.begin_attempt(attempt, std::move(subjects)));
    }
    bool take(const std::string& email, const std::string& code)
    {
        return await(sign_in.take_code(email, code));
    }
    std::size_t attempts()
    {
        return postgres::row_count(scratch.execute("SELECT 1 FROM accounts.attempts"));
    }
};

// An account with a password, and its sessions.
class arranged_sessions : public arranged_sign_in
{
public:
    account_id owner = make("a@example.com", "hash");

    std::string open(account_id account)
    {
        const auto digest = session_digest(make_session_token().reveal());
        CHECK(await(sign_in.open_session(digest, account, "hash")));
        return digest;
    }
    bool is_open(const std::string& digest)
    {
        return await(sign_in.find_session(digest)).has_value();
    }
    // As if it had been opened and last used that long ago.
    void age(const std::string& since_opened, const std::string& until_end)
    {
        scratch.execute("UPDATE accounts.sessions SET created_at = now() - interval '" +
                        since_opened + "', expires_at = now() + interval '" + until_end + "'");
    }
    std::string row_version()
    {
        return scratch.execute("SELECT xmin FROM accounts.sessions")[0][0].as<std::string>();
    }
    std::int64_t hours_left()
    {
        return scratch
            .execute("SELECT round(extract(epoch FROM expires_at - now()) / 3600)::bigint FROM "
                     "accounts.sessions")[0][0]
            .as<std::int64_t>();
    }
};

const attempt_subject alice("account", "alice@example.com", 3);
const attempt_subject somewhere("address", "192.0.2.1", 5);

awaitable<void> try_once(sign_in_repository& sign_in, int& allowed, int& done)
{
    std::vector<attempt_subject> subjects{alice};
    const auto status = co_await sign_in.begin_attempt(uuid::make_v7(), std::move(subjects));
    allowed += status.is_allowed ? 1 : 0;
    ++done;
}

} // namespace

TEST_CASE("a user is found by the email address however it is written",
          "[accounts][user][postgres]")
{
    arranged_sign_in arranged;
    const auto id = arranged.make("Ada@Example.com", "hash");

    const auto found = await(arranged.sign_in.find_user_by_email("ada@example.COM"));

    REQUIRE(found);
    CHECK(found->record.id() == id);
    CHECK(found->record.email == "Ada@Example.com");
    CHECK(found->password_hash == "hash");
    CHECK_FALSE(await(arranged.sign_in.find_user_by_email("eve@example.com")));
}

TEST_CASE("an account that only keys use has no password until one is set",
          "[accounts][user][postgres]")
{
    arranged_sign_in arranged;
    const auto id = arranged.make("a@example.com");
    CHECK(await(arranged.sign_in.find_user(id))->password_hash.empty());

    REQUIRE(await(arranged.sign_in.set_password(id, "hash")));

    CHECK(await(arranged.sign_in.find_user(id))->password_hash == "hash");
    CHECK_FALSE(await(arranged.sign_in.set_password(account_id::make(), "hash")));
}

TEST_CASE("a link sets a password once, and ends all sessions", "[accounts][user][postgres]")
{
    arranged_sign_in arranged;
    const auto id = arranged.make("a@example.com", "hash");
    const auto session = session_digest("session");
    await(arranged.sign_in.open_session(session, id, "hash"));
    REQUIRE(await(arranged.sign_in.begin_reset(id, session_digest("link"))));

    CHECK_FALSE(await(arranged.sign_in.reset_password(session_digest("another"), "stolen")));
    const auto changed = await(arranged.sign_in.reset_password(session_digest("link"), "new hash"));
    const auto again = await(arranged.sign_in.reset_password(session_digest("link"), "newer hash"));

    REQUIRE(changed);
    CHECK(changed->id() == id);
    CHECK(await(arranged.sign_in.find_user(id))->password_hash == "new hash");
    CHECK_FALSE(await(arranged.sign_in.find_session(session)));
    REQUIRE_FALSE(again);
    CHECK(again.error().code == errc::invalid_argument);
}

TEST_CASE("a link ends after an hour, and with the next one", "[accounts][user][postgres]")
{
    arranged_sign_in arranged;
    const auto id = arranged.make("a@example.com", "hash");

    await(arranged.sign_in.begin_reset(id, session_digest("first")));
    await(arranged.sign_in.begin_reset(id, session_digest("second")));
    CHECK_FALSE(await(arranged.sign_in.reset_password(session_digest("first"), "new hash")));

    arranged.scratch.execute(
        "UPDATE accounts.password_resets SET expires_at = now() - interval '1 second'");
    CHECK_FALSE(await(arranged.sign_in.reset_password(session_digest("second"), "new hash")));
    await(arranged.sign_in.purge());
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.password_resets").empty());
    CHECK(await(arranged.sign_in.find_user(id))->password_hash == "hash");
}

TEST_CASE("a link ends with a change of the password, and with its account",
          "[accounts][user][postgres]")
{
    arranged_sign_in arranged;
    const auto id = arranged.make("a@example.com", "hash");
    const auto other = arranged.make("b@example.com", "hash");
    await(arranged.sign_in.begin_reset(id, session_digest("link")));
    await(arranged.sign_in.begin_reset(other, session_digest("theirs")));

    REQUIRE(await(arranged.sign_in.set_password(id, "new hash")));

    CHECK_FALSE(await(arranged.sign_in.reset_password(session_digest("link"), "stolen")));
    CHECK(await(arranged.sign_in.find_user(id))->password_hash == "new hash");
    CHECK(await(arranged.sign_in.reset_password(session_digest("theirs"), "new hash")));
    await(arranged.sign_in.begin_reset(id, session_digest("last")));
    REQUIRE(await(arranged.accounts.remove(id)));
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.password_resets").empty());
}

TEST_CASE("a session is found by its digest with its account, and its token is nowhere",
          "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    const auto token = make_session_token();
    await(arranged.sign_in.open_session(session_digest(token.reveal()), arranged.owner, "hash"));

    const auto found = await(arranged.sign_in.find_session(session_digest(token.reveal())));

    REQUIRE(found);
    CHECK(found->id() == arranged.owner);
    CHECK(found->email == "a@example.com");
    CHECK(from_base64url(token.reveal())->size() == 32);
    const auto row = arranged.scratch.execute("SELECT sessions::text FROM accounts.sessions")[0][0]
                         .as<std::string>();
    CHECK(row.find(token.reveal()) == std::string::npos);
    CHECK(row.find(to_hex(from_base64url(token.reveal()).value())) == std::string::npos);
}

TEST_CASE("a session ends when it is ended, timed out, or its account deleted",
          "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    const auto first = arranged.open(arranged.owner);
    const auto second = arranged.open(arranged.owner);

    await(arranged.sign_in.end_session(first));
    CHECK_FALSE(arranged.is_open(first));
    CHECK(arranged.is_open(second));

    arranged.age("1 day", "-1 second");
    CHECK_FALSE(arranged.is_open(second));

    const auto third = arranged.open(arranged.owner);
    await(arranged.accounts.remove(arranged.owner));
    CHECK_FALSE(arranged.is_open(third));
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.users").empty());
}

TEST_CASE("a session that is used lasts on, but not for ever", "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    const auto digest = arranged.open(arranged.owner);
    CHECK(arranged.hours_left() == 7 * 24);

    arranged.age("2 days", "5 days");
    arranged.is_open(digest);
    CHECK(arranged.hours_left() == 7 * 24);

    arranged.age("29 days", "1 hour");
    arranged.is_open(digest);
    CHECK(arranged.hours_left() == 24);
}

TEST_CASE("a session is written once an hour at most, on its last day too",
          "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    const auto digest = arranged.open(arranged.owner);
    arranged.age("29 days", "1 hour");

    CHECK(arranged.is_open(digest));
    const auto written = arranged.row_version();
    CHECK(arranged.is_open(digest));

    CHECK(arranged.row_version() == written);
    CHECK(arranged.hours_left() == 24);
}

TEST_CASE("all sessions of an account end together, and of no other",
          "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    const auto other = arranged.make("b@example.com", "hash");
    const auto theirs = arranged.open(other);
    arranged.open(arranged.owner);
    arranged.open(arranged.owner);

    CHECK(await(arranged.sign_in.end_sessions(arranged.owner)) == 2);
    CHECK(arranged.is_open(theirs));
}

TEST_CASE("a password that was changed meanwhile opens nothing", "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    const auto before = arranged.open(arranged.owner);
    REQUIRE(await(arranged.sign_in.set_password(arranged.owner, "new hash")));

    const auto digest = session_digest(make_session_token().reveal());
    CHECK_FALSE(await(arranged.sign_in.open_session(digest, arranged.owner, "hash")));
    CHECK_FALSE(arranged.is_open(digest));
    CHECK_FALSE(arranged.is_open(before));
}

TEST_CASE("sessions that timed out are purged in time", "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    arranged.open(arranged.owner);
    arranged.age("1 day", "-1 second");
    arranged.open(arranged.owner);

    CHECK(await(arranged.sign_in.purge()) == 1);
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.sessions").size() == 1);
}

TEST_CASE("a code is good once, for its own address, however that is written",
          "[accounts][sign-up][postgres]")
{
    arranged_sign_in arranged;
    await(arranged.sign_in.put_code("Ada@example.com", "12345678"));

    CHECK_FALSE(arranged.take("eve@example.com", "12345678"));
    CHECK(arranged.take("ada@EXAMPLE.com", "12345678"));
    CHECK_FALSE(arranged.take("ada@example.com", "12345678"));
}

TEST_CASE("a newer code replaces an older one", "[accounts][sign-up][postgres]")
{
    arranged_sign_in arranged;
    await(arranged.sign_in.put_code("ada@example.com", "11111111"));
    await(arranged.sign_in.put_code("ada@example.com", "22222222"));

    CHECK_FALSE(arranged.take("ada@example.com", "11111111"));
    CHECK(arranged.take("ada@example.com", "22222222"));
}

TEST_CASE("after five wrong codes the right one is wrong, too", "[accounts][sign-up][postgres]")
{
    arranged_sign_in arranged;
    await(arranged.sign_in.put_code("ada@example.com", "12345678"));

    for (int i = 0; i < sign_in_repository::max_wrong_codes; ++i)
        CHECK_FALSE(arranged.take("ada@example.com", "87654321"));

    CHECK_FALSE(arranged.take("ada@example.com", "12345678"));
}

TEST_CASE("a code ends after a quarter of an hour", "[accounts][sign-up][postgres]")
{
    arranged_sign_in arranged;
    await(arranged.sign_in.put_code("ada@example.com", "12345678"));
    arranged.scratch.execute(
        "UPDATE accounts.sign_ups SET expires_at = expires_at - interval '15 minutes 1 second'");

    CHECK_FALSE(arranged.take("ada@example.com", "12345678"));
    await(arranged.sign_in.purge());
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.sign_ups").empty());
}

TEST_CASE("a subject has its limit of attempts in the window, then gets the time to wait",
          "[accounts][attempts][postgres]")
{
    arranged_sign_in arranged;
    for (int i = 0; i < 3; ++i)
        CHECK(arranged.begin({alice, somewhere}).is_allowed);

    const auto status = arranged.begin({alice, somewhere});

    CHECK_FALSE(status.is_allowed);
    CHECK(status.retry_after > std::chrono::seconds(590));
    CHECK(status.retry_after <= std::chrono::seconds(600));
    CHECK(arranged.attempts() == 6); // refused attempts are not recorded
    CHECK(arranged.begin({somewhere}).is_allowed);
}

TEST_CASE("many at once do not pass the limit together", "[accounts][attempts][postgres]")
{
    arranged_sign_in arranged;
    int allowed = 0, done = 0;
    for (int i = 0; i < 20; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              try_once(arranged.sign_in, allowed, done), boost::asio::detached);

    CHECK(testing::eventually([&] { return done == 20; }));

    CHECK(allowed == 3);
}

TEST_CASE("what succeeded does not count, and what is past the window neither",
          "[accounts][attempts][postgres]")
{
    arranged_sign_in arranged;
    const auto good = uuid::make_v7();
    arranged.begin({alice, somewhere}, good);
    arranged.begin({alice, somewhere});

    await(arranged.sign_in.take_back_attempt(good, {somewhere}));
    await(arranged.sign_in.reset_attempts(alice));
    CHECK(arranged.attempts() == 1);

    for (int i = 0; i < 3; ++i)
        arranged.begin({alice});
    CHECK_FALSE(arranged.begin({alice}).is_allowed);
    arranged.scratch.execute(
        "UPDATE accounts.attempts SET at = at - interval '10 minutes 1 second'");
    CHECK(arranged.begin({alice}).is_allowed);
    CHECK(await(arranged.sign_in.purge()) == 4);
    CHECK(arranged.attempts() == 1);
}

TEST_CASE("names of who tried are not in the table", "[accounts][attempts][postgres]")
{
    arranged_sign_in arranged;
    arranged.begin({alice});

    const auto row = arranged.scratch.execute("SELECT attempts::text FROM accounts.attempts")[0][0]
                         .as<std::string>();

    CHECK(row.find("alice") == std::string::npos);
    CHECK(alice.digest != attempt_subject("address", "alice@example.com", 3).digest);
}
