#include "accounts/attempt_store.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::accounts;
using testing::await;

namespace {

class arranged_attempts
{
public:
    testing::scratch_database scratch{{"accounts"}};
    attempt_store attempts{scratch.db()};

    attempt_status begin(std::vector<attempt_subject> subjects, uuid attempt = uuid::make_v7())
    {
        return await(attempts.begin(attempt, std::move(subjects)));
    }
    std::size_t rows() { return scratch.execute("SELECT 1 FROM accounts.attempts").size(); }
};

const attempt_subject alice("account", "alice@example.com", 3);
const attempt_subject somewhere("address", "192.0.2.1", 5);

awaitable<void> try_once(attempt_store& attempts, int& allowed, int& done)
{
    std::vector<attempt_subject> subjects{alice};
    const auto status = co_await attempts.begin(uuid::make_v7(), std::move(subjects));
    allowed += status.is_allowed ? 1 : 0;
    ++done;
}

} // namespace

TEST_CASE("a subject has its limit of attempts in the window, then gets the time to wait",
          "[accounts][attempts][postgres]")
{
    arranged_attempts arranged;
    for (int i = 0; i < 3; ++i)
        CHECK(arranged.begin({alice, somewhere}).is_allowed);

    const auto status = arranged.begin({alice, somewhere});

    CHECK_FALSE(status.is_allowed);
    CHECK(status.retry_after > std::chrono::seconds(590));
    CHECK(status.retry_after <= std::chrono::seconds(600));
    CHECK(arranged.rows() == 6); // refused attempts are not recorded
    CHECK(arranged.begin({somewhere}).is_allowed);
}

TEST_CASE("many at once do not pass the limit together", "[accounts][attempts][postgres]")
{
    arranged_attempts arranged;
    int allowed = 0, done = 0;
    for (int i = 0; i < 20; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              try_once(arranged.attempts, allowed, done), boost::asio::detached);

    CHECK(testing::eventually([&] { return done == 20; }));

    CHECK(allowed == 3);
}

TEST_CASE("what succeeded does not count, and what is past the window neither",
          "[accounts][attempts][postgres]")
{
    arranged_attempts arranged;
    const auto good = uuid::make_v7();
    arranged.begin({alice, somewhere}, good);
    arranged.begin({alice, somewhere});

    await(arranged.attempts.take_back(good, {somewhere}));
    await(arranged.attempts.reset(alice));
    CHECK(arranged.rows() == 1);

    for (int i = 0; i < 3; ++i)
        arranged.begin({alice});
    CHECK_FALSE(arranged.begin({alice}).is_allowed);
    arranged.scratch.execute(
        "UPDATE accounts.attempts SET at = at - interval '10 minutes 1 second'");
    CHECK(arranged.begin({alice}).is_allowed);
    CHECK(await(arranged.attempts.purge()) == 4);
    CHECK(arranged.rows() == 1);
}

TEST_CASE("names of who tried are not in the table", "[accounts][attempts][postgres]")
{
    arranged_attempts arranged;
    arranged.begin({alice});

    const auto row = arranged.scratch.execute("SELECT attempts::text FROM accounts.attempts")[0][0]
                         .as<std::string>();

    CHECK(row.find("alice") == std::string::npos);
    CHECK(alice.digest != attempt_subject("address", "alice@example.com", 3).digest);
}
