#include "mail-ingest/ingest/database_watch.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::test_host;

namespace {

postgres::settings nowhere()
{
    postgres::settings chosen;
    chosen.dsn = "postgresql://127.0.0.1:1/nowhere";
    chosen.connections = 1;
    return chosen;
}

} // namespace

TEST_CASE("the database is away while any pool can not reach it", "[mail-ingest][postgres]")
{
    testing::scratch_database scratch({"mailbox"});
    postgres::pool cut_off(test_host(), nowhere());
    const bool is_first = GENERATE(true, false);
    using pools = mail_ingest::database_watch::pools;
    mail_ingest::database_watch watch(test_host(), is_first ? pools{cut_off, scratch.db()}
                                                            : pools{scratch.db(), cut_off});

    watch.start();

    CHECK(testing::eventually([&] { return watch.is_away(); }));
    testing::await(watch.stop());
}
