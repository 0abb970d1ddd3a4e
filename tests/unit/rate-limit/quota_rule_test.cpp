#include "rate-limit/quota_rule.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::rate_limit;

TEST_CASE("a day is a UTC calendar day and ends at the next midnight", "[rate-limit]")
{
    const auto at = [](std::string_view text) { return parse_iso8601(text).value(); };

    CHECK(day_of(at("2026-11-21T00:00:00Z")) == day_of(at("2026-11-21T23:59:59.999999Z")));
    CHECK(day_of(at("2026-11-21T23:59:59Z")) != day_of(at("2026-11-22T00:00:00Z")));
    CHECK(day_of(at("2026-11-22T00:30:00+01:00")) == day_of(at("2026-11-21T12:00:00Z")));
    CHECK(reset_after(day_of(at("2026-11-21T10:00:00Z"))) ==
          to_unix_micros(at("2026-11-22T00:00:00Z")) / 1'000'000);
    CHECK(date_text(day_of(at("2026-01-02T10:00:00Z"))) == "2026-01-02");
}
