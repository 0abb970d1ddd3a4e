#include "webhook-dispatcher/delivery/retry_after.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using webhooks::read_retry_after;
using namespace std::chrono_literals;

namespace {

const time_point now = *parse_iso8601("1994-11-06T08:49:07.500Z");

} // namespace

TEST_CASE("Retry-After in seconds", "[webhooks]")
{
    CHECK(read_retry_after("120", now) == 120s);
    CHECK(read_retry_after(" 0 ", now) == 0s);
    CHECK(read_retry_after("99999999999999", now) > 24h);
}

TEST_CASE("Retry-After as each of the three forms of an HTTP date", "[webhooks]")
{
    CHECK(read_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now) == 30s);
    CHECK(read_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", now) == 30s);
    CHECK(read_retry_after("Sun Nov  6 08:49:37 1994", now) == 30s);
}

TEST_CASE("a two-digit year far ahead is one of the past century", "[webhooks]")
{
    CHECK_FALSE(
        read_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", *parse_iso8601("2026-01-01T00:00:00Z")));
}

TEST_CASE("a Retry-After that is past or nonsense is absent", "[webhooks]")
{
    CHECK_FALSE(read_retry_after("Sun, 06 Nov 1994 08:49:07 GMT", now));
    for (const char* text :
         {"", "soon", "-5", "1.5", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 31 Feb 1995 08:49:37 GMT",
          "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "06 Nov 1994"})
        CHECK_FALSE(read_retry_after(text, now));
}
