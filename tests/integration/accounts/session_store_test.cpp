#include "accounts/session_store.hpp"

#include "accounts/user_store.hpp"
#include "common/core/encoding.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

class arranged_sessions
{
public:
    testing::scratch_database scratch{{"accounts"}};
    account_store accounts{scratch.db(), state_publisher("test", nullptr)};
    user_store users{scratch.db()};
    session_store sessions{scratch.db()};
    account_id owner = make("a@example.com");

    account_id make(const std::string& email)
    {
        return await(accounts.create(account_id::make(), email, "free", "hash")).value().id();
    }
    std::string open(account_id account)
    {
        const auto digest = session_digest(make_session_token().reveal());
        CHECK(await(sessions.open(digest, account, "hash")));
        return digest;
    }
    bool is_open(const std::string& digest) { return await(sessions.find(digest)).has_value(); }
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

} // namespace

TEST_CASE("a session is found by its digest with its account, and its token is nowhere",
          "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    const auto token = make_session_token();
    await(arranged.sessions.open(session_digest(token.reveal()), arranged.owner, "hash"));

    const auto found = await(arranged.sessions.find(session_digest(token.reveal())));

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

    await(arranged.sessions.end(first));
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
    const auto other = arranged.make("b@example.com");
    const auto theirs = arranged.open(other);
    arranged.open(arranged.owner);
    arranged.open(arranged.owner);

    CHECK(await(arranged.sessions.end_all(arranged.owner)) == 2);
    CHECK(arranged.is_open(theirs));
}

TEST_CASE("a password that was changed meanwhile opens nothing", "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    const auto before = arranged.open(arranged.owner);
    REQUIRE(await(arranged.users.set_password(arranged.owner, "new hash")));

    const auto digest = session_digest(make_session_token().reveal());
    CHECK_FALSE(await(arranged.sessions.open(digest, arranged.owner, "hash")));
    CHECK_FALSE(arranged.is_open(digest));
    CHECK_FALSE(arranged.is_open(before));
}

TEST_CASE("sessions that timed out are purged in time", "[accounts][session][postgres]")
{
    arranged_sessions arranged;
    arranged.open(arranged.owner);
    arranged.age("1 day", "-1 second");
    arranged.open(arranged.owner);

    CHECK(await(arranged.sessions.purge()) == 1);
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.sessions").size() == 1);
}
