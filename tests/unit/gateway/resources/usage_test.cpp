#include "gateway/resources/usage.hpp"

#include "common/json/value.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");

std::int64_t start_of(std::string_view date)
{
    return to_unix_seconds(*parse_iso8601(std::string(date) + "T00:00:00Z"));
}

} // namespace

TEST_CASE("the history has thirty days, newest first, and nothing of other days", "[gateway]")
{
    usage_history history(noon);
    history.of(start_of("2026-11-21")).requests = 3;
    history.of(start_of("2026-10-23")).emails = 5;
    history.of(start_of("2026-10-22")).emails = 7;
    history.of(start_of("2026-11-22")).deliveries = 9;

    const auto parsed = json::value::parse(history.json()).value();
    const auto days = parsed["days"];

    REQUIRE(days.size() == 30);
    CHECK(days[0]["day"].text() == "2026-11-21");
    CHECK(days[0]["requests"].integer() == 3);
    CHECK(days[29]["day"].text() == "2026-10-23");
    CHECK(days[29]["emails"].integer() == 5);
    CHECK(days[0]["deliveries"].integer() == 0);
    CHECK(history.json().find("\"emails\":7") == std::string::npos);
}
