#include "mail-ingest/recipients/live_addresses.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using mail_ingest::live_address;
using mail_ingest::live_addresses;
using mail_ingest::quarantined_address;

namespace {

const std::string box = "box@mail.test";
const time_point now = from_unix_micros(1'700'000'000'000'000);

quarantined_address quarantine_until(time_point until)
{
    return quarantined_address{account_id::make(), inbox_id::make(), until};
}

} // namespace

TEST_CASE("an address in quarantine is remembered for ten seconds", "[mail-ingest]")
{
    live_addresses addresses(10);
    CHECK_FALSE(addresses.find_quarantined(box, now));

    addresses.quarantined(box, quarantine_until(now + 24h), now);

    CHECK(addresses.find_quarantined(box, now + 9s));
    CHECK_FALSE(addresses.find_quarantined("other@mail.test", now));
    CHECK_FALSE(addresses.find_quarantined(box, now + 10s));
}

TEST_CASE("near the end of its quarantine an address is looked up each time", "[mail-ingest]")
{
    live_addresses addresses(10);

    addresses.quarantined(box, quarantine_until(now + 2min), now);

    CHECK_FALSE(addresses.find_quarantined(box, now));
}

TEST_CASE("a new inbox takes its address out of quarantine at once", "[mail-ingest]")
{
    live_addresses addresses(10);
    addresses.quarantined(box, quarantine_until(now + 24h), now);

    addresses.created(box, live_address{account_id::make(), inbox_id::make(), now + 1h});

    CHECK_FALSE(addresses.find_quarantined(box, now));
    CHECK(addresses.find(box, now));
}

TEST_CASE("an address in quarantine is remembered with the inbox it had", "[mail-ingest]")
{
    live_addresses addresses(10);
    const auto ended = quarantine_until(now + 24h);

    addresses.quarantined(box, ended, now);

    const auto found = addresses.find_quarantined(box, now + 1s);
    REQUIRE(found);
    CHECK(found->account == ended.account);
    CHECK(found->inbox == ended.inbox);
}
