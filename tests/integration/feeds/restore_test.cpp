#include "feeds/restore.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::await;

namespace {

constexpr const char* restore_id = "7000-2";

std::int64_t count(testing::scratch_database& scratch, const std::string& condition)
{
    return scratch.execute("SELECT count(*) FROM webhooks.feeds WHERE " + condition)[0][0]
        .as<std::int64_t>();
}

} // namespace

TEST_CASE("a restore ends the epoch of every feed, batch by batch and once",
          "[feeds][restore][postgres]")
{
    testing::scratch_database scratch{{"webhooks"}};
    scratch.execute("INSERT INTO webhooks.feeds (account_id, server) SELECT gen_random_uuid(), "
                    "webhooks.feed_server() FROM generate_series(1, 1500)");
    CHECK(await(feeds::count_restored_feeds(scratch.db())) == 1'500);

    CHECK_FALSE(await(feeds::begin_epochs(scratch.db(), restore_id)).is_finished);
    CHECK(count(scratch, "server = 'restored'") == 1'000);
    const auto done = await(feeds::begin_epochs(scratch.db(), restore_id));
    CHECK(done.is_finished);
    CHECK(done.rows == 1'500);
    CHECK(count(scratch, "server = 'restored'") == 1'500);

    // Events were recorded since: another run leaves their epochs alone.
    scratch.execute("UPDATE webhooks.feeds SET server = webhooks.feed_server()");
    CHECK(await(feeds::begin_epochs(scratch.db(), restore_id)).rows == 1'500);
    CHECK(count(scratch, "server = 'restored'") == 0);
}

TEST_CASE("a database without schema webhooks has no feeds to settle", "[feeds][restore][postgres]")
{
    testing::scratch_database scratch{{"accounts"}};
    CHECK(await(feeds::count_restored_feeds(scratch.db())) == std::nullopt);
}
