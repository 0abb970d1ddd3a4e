#include "accounts/user_store.hpp"

#include "accounts/session_store.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

class arranged_users
{
public:
    testing::scratch_database scratch{{"accounts"}};
    account_store accounts{scratch.db(), state_publisher("test", nullptr)};
    user_store users{scratch.db()};
    session_store sessions{scratch.db()};

    account_id make(const std::string& email, const std::string& hash = "")
    {
        return await(accounts.create(account_id::make(), email, "free", hash)).value().id();
    }
};

} // namespace

TEST_CASE("a user is found by the email address however it is written",
          "[accounts][user][postgres]")
{
    arranged_users arranged;
    const auto id = arranged.make("Ada@Example.com", "hash");

    const auto found = await(arranged.users.find_by_email("ada@example.COM"));

    REQUIRE(found);
    CHECK(found->record.id() == id);
    CHECK(found->record.email == "Ada@Example.com");
    CHECK(found->password_hash == "hash");
    CHECK_FALSE(await(arranged.users.find_by_email("eve@example.com")));
}

TEST_CASE("an account that only keys use has no password until one is set",
          "[accounts][user][postgres]")
{
    arranged_users arranged;
    const auto id = arranged.make("a@example.com");
    CHECK(await(arranged.users.find(id))->password_hash.empty());

    REQUIRE(await(arranged.users.set_password(id, "hash")));

    CHECK(await(arranged.users.find(id))->password_hash == "hash");
    CHECK_FALSE(await(arranged.users.set_password(account_id::make(), "hash")));
}

TEST_CASE("a link sets a password once, and ends all sessions", "[accounts][user][postgres]")
{
    arranged_users arranged;
    const auto id = arranged.make("a@example.com", "hash");
    const auto session = session_digest("session");
    await(arranged.sessions.open(session, id, "hash"));
    REQUIRE(await(arranged.users.begin_reset(id, session_digest("link"))));

    CHECK_FALSE(await(arranged.users.reset_password(session_digest("another"), "stolen")));
    const auto changed = await(arranged.users.reset_password(session_digest("link"), "new hash"));
    const auto again = await(arranged.users.reset_password(session_digest("link"), "newer hash"));

    REQUIRE(changed);
    CHECK(changed->id() == id);
    CHECK(await(arranged.users.find(id))->password_hash == "new hash");
    CHECK_FALSE(await(arranged.sessions.find(session)));
    REQUIRE_FALSE(again);
    CHECK(again.error().code == errc::invalid_argument);
}

TEST_CASE("a link ends after an hour, and with the next one", "[accounts][user][postgres]")
{
    arranged_users arranged;
    const auto id = arranged.make("a@example.com", "hash");

    await(arranged.users.begin_reset(id, session_digest("first")));
    await(arranged.users.begin_reset(id, session_digest("second")));
    CHECK_FALSE(await(arranged.users.reset_password(session_digest("first"), "new hash")));

    arranged.scratch.execute(
        "UPDATE accounts.password_resets SET expires_at = now() - interval '1 second'");
    CHECK_FALSE(await(arranged.users.reset_password(session_digest("second"), "new hash")));
    await(arranged.users.purge());
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.password_resets").empty());
    CHECK(await(arranged.users.find(id))->password_hash == "hash");
}

TEST_CASE("a link ends with a change of the password, and with its account",
          "[accounts][user][postgres]")
{
    arranged_users arranged;
    const auto id = arranged.make("a@example.com", "hash");
    const auto other = arranged.make("b@example.com", "hash");
    await(arranged.users.begin_reset(id, session_digest("link")));
    await(arranged.users.begin_reset(other, session_digest("theirs")));

    REQUIRE(await(arranged.users.set_password(id, "new hash")));

    CHECK_FALSE(await(arranged.users.reset_password(session_digest("link"), "stolen")));
    CHECK(await(arranged.users.find(id))->password_hash == "new hash");
    CHECK(await(arranged.users.reset_password(session_digest("theirs"), "new hash")));
    await(arranged.users.begin_reset(id, session_digest("last")));
    REQUIRE(await(arranged.accounts.remove(id)));
    CHECK(arranged.scratch.execute("SELECT 1 FROM accounts.password_resets").empty());
}
