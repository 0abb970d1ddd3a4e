#include "mail-ingest/directory/inbox_rates.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("an inbox takes a burst of 60 and then 120 messages a minute, whatever others get", "[mail-ingest]")
{
    mail_ingest::inbox_rates rates(120, 60);
    const auto flooded = inbox_id::make();
    const mail_ingest::inbox_rates::time_point noon{std::chrono::hours(12)};
    for (int i = 0; i < 60; ++i)
        REQUIRE(rates.take(flooded, noon));
    CHECK_FALSE(rates.take(flooded, noon));
    CHECK(rates.take(inbox_id::make(), noon));

    CHECK(rates.take(flooded, noon + std::chrono::milliseconds(500)));
    CHECK_FALSE(rates.take(flooded, noon + std::chrono::milliseconds(500)));
    for (int i = 0; i < 60; ++i)
        REQUIRE(rates.take(flooded, noon + std::chrono::hours(1)));
    CHECK_FALSE(rates.take(flooded, noon + std::chrono::hours(1)));
}

TEST_CASE("a rate can be off", "[mail-ingest]")
{
    mail_ingest::inbox_rates rates(0, 0);
    const auto inbox = inbox_id::make();
    for (int i = 0; i < 1'000; ++i)
        REQUIRE(rates.take(inbox, {}));
}
