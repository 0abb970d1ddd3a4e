#include "accounts/sign_in_tokens.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "gateway/access/session_lookups.hpp"
#include "gateway/dashboard/sign_in_handlers.hpp"
#include "gateway/dashboard/throttle.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::await;

namespace {

const auto free_of_charge = crypto::password_cost{1, 8 * 1024 * 1024};

// Sign-in and session lookups over a database that the test can inspect.
class arranged_door
{
public:
    http::response sign_in(const std::string& email, const std::string& address = "192.0.2.1")
    {
        http::request received;
        received.method = "POST";
        received.target = received.path = "/dashboard/api/session";
        received.body = R"({"email":")" + email + R"(","password":"a wrong password"})";
        received.peer = boost::asio::ip::make_address(address);
        for (const auto& operation : handlers.open_operations())
            if (operation.method == "POST")
                return await(operation.handle(received, who));
        throw std::logic_error("no sign-in");
    }

    std::string open_session()
    {
        const auto owner = await(accounts.create(
            account_id::make(), uuid::make_v7().text() + "@example.com", "free", "hash"));
        const auto digest = accounts::session_digest(accounts::make_session_token().reveal());
        CHECK(await(sign_ins.open_session(digest, owner->id(), "hash")));
        return digest;
    }

    testing::scratch_database scratch{{"accounts"}};
    accounts::account_repository accounts{scratch.db(), accounts::state_publisher("test", nullptr)};
    accounts::sign_in_repository sign_ins{scratch.db()};
    lookup_limiter strangers{testing::test_host(), 1, 0};
    session_lookups lookups_of_sessions{sign_ins, strangers};
    attempt_gate gate{sign_ins, strangers};

private:
    password_hasher hasher_{testing::test_host(), free_of_charge};
    session_issuer issuer_{sign_ins, lookups_of_sessions, {}};
    event_stream event_stream_{testing::test_host(), never_open, event_stream::check_times()};
    caller who;

    static awaitable<bool> never_open(std::string) { co_return false; }

    sign_in_handlers handlers{accounts, sign_ins,      gate,          hasher_,
                              issuer_,  event_stream_, sign_up::open, false};
};

} // namespace

TEST_CASE("for an address past its attempts no account is looked up, and then PostgreSQL is not "
          "queried for a minute",
          "[gateway][dashboard][postgres]")
{
    arranged_door door;
    for (int i = 0; i < 20; ++i)
        CHECK(door.sign_in("nobody" + std::to_string(i) + "@example.com").status == 401);

    door.scratch.execute("ALTER TABLE accounts.users RENAME TO users_away");
    CHECK(door.sign_in("nobody@example.com").status == 429);
    door.scratch.execute("ALTER TABLE accounts.attempts RENAME TO attempts_away");
    const auto refused = door.sign_in("nobody@example.com");

    CHECK(refused.status == 429);
    CHECK(std::stoi(std::string(http::find_header(refused.headers, "Retry-After").value_or("0"))) >
          500);
    CHECK_THROWS(door.sign_in("nobody@example.com", "192.0.2.2"));
}

TEST_CASE("an attempt that succeeds makes room for its address at once",
          "[gateway][dashboard][postgres]")
{
    arranged_door door;
    std::vector<accounts::attempt_subject> of_address{sign_ins_of_address("192.0.2.1")};
    const auto succeeding = uuid::make_v7();
    CHECK_FALSE(await(door.gate.begin(succeeding, of_address)).refusal);
    for (int i = 0; i < 19; ++i)
        CHECK_FALSE(await(door.gate.begin(uuid::make_v7(), of_address)).refusal);
    CHECK(await(door.gate.begin(uuid::make_v7(), of_address)).refusal);

    await(door.gate.take_back(succeeding, of_address));

    CHECK_FALSE(await(door.gate.begin(uuid::make_v7(), of_address)).refusal);
}

TEST_CASE("a sign-in while too many are under way is 503", "[gateway][dashboard][postgres]")
{
    arranged_door door;
    auto taken = await(door.strangers.enter());

    const auto refused = door.sign_in("nobody@example.com");
    taken.reset();

    CHECK(refused.status == 503);
    CHECK(http::find_header(refused.headers, "Retry-After") == "1");
    CHECK(door.sign_in("nobody@example.com").status == 401);
}

TEST_CASE("sessions that were never seen open take turns; the others pass at once",
          "[gateway][dashboard][postgres]")
{
    arranged_door door;
    const auto seen = door.open_session(), opened_here = door.open_session(),
               unseen = door.open_session();
    const auto find = [&](const std::string& digest, lookups allowed) {
        return await(door.lookups_of_sessions.find(digest, allowed));
    };
    CHECK(find(seen, lookups::all)->was_strange);
    door.lookups_of_sessions.note_open(opened_here);
    auto taken = await(door.strangers.enter());

    for (const auto& digest : {seen, opened_here}) {
        const auto found = find(digest, lookups::seen_good);
        REQUIRE(found);
        CHECK(found->account);
        CHECK_FALSE(found->was_strange);
    }
    const auto refused = find(unseen, lookups::all);
    CHECK(refused.error().code == errc::unavailable);
    taken.reset();
    CHECK(find(unseen, lookups::seen_good).error().code == errc::rate_limited);
    CHECK(find(unseen, lookups::all)->account);

    await(door.sign_ins.end_session(seen));
    CHECK_FALSE(find(seen, lookups::all)->account);
    CHECK(find(seen, lookups::seen_good).error().code == errc::rate_limited);
}
