#include "rate-limit/quota_rule.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::rate_limit;

TEST_CASE("units are granted up to the limit and no further", "[rate-limit]")
{
    struct row
    {
        std::int64_t used, limit, units, let_through;
        std::int64_t granted, used_after, remaining;
    };
    const row table[] = {
        {0, 3'000, 1, 0, 1, 1, 2'999},          // the first
        {2'999, 3'000, 1, 0, 1, 3'000, 0},      // the last
        {3'000, 3'000, 1, 0, 0, 3'000, 0},      // one too many
        {2'998, 3'000, 5, 0, 2, 3'000, 0},      // a part of what was asked
        {10, 3'000, 0, 0, 0, 10, 2'990},        // a look
        {10, 3'000, 1, 20, 1, 31, 2'969},       // what was let through is counted first
        {2'990, 3'000, 5, 20, 0, 3'010, 0},     // and may pass the limit
        {3'000, 2'000, 1, 0, 0, 3'000, 0},      // the limit was lowered below what is used
        {3'000, 10'000, 1, 0, 1, 3'001, 6'999}, // or raised
        {5'000, 0, 7, 1, 7, 5'008, 0},          // unlimited
    };
    for (const auto& each : table) {
        const auto made = decide({each.used, each.limit}, each.units, each.let_through);

        CAPTURE(each.used, each.limit, each.units, each.let_through);
        CHECK(made.granted == each.granted);
        CHECK(made.used == each.used_after);
        CHECK(made.remaining == each.remaining);
    }
}

TEST_CASE("a day is a UTC calendar day and ends at the next midnight", "[rate-limit]")
{
    const auto at = [](std::string_view text) { return parse_iso8601(text).value(); };

    CHECK(day_of(at("2026-11-21T00:00:00Z")) == day_of(at("2026-11-21T23:59:59.999999Z")));
    CHECK(day_of(at("2026-11-21T23:59:59Z")) != day_of(at("2026-11-22T00:00:00Z")));
    CHECK(day_of(at("2026-11-22T00:30:00+01:00")) == day_of(at("2026-11-21T12:00:00Z")));
    CHECK(reset_after(day_of(at("2026-11-21T10:00:00Z"))) == to_unix_micros(at("2026-11-22T00:00:00Z")) / 1'000'000);
}
