#include "gateway/quota/failed_authentication.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using boost::asio::ip::make_address;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:10Z");

} // namespace

TEST_CASE("an address may fail sixty times a minute", "[gateway][quota]")
{
    failed_authentication failures;
    const auto address = make_address("192.0.2.1");

    CHECK(failures.rate_limit(address, noon) ==
          rate_limit_headers(60, 60, to_unix_seconds(noon) + 50));
    for (int i = 59; i >= 0; --i) {
        const auto outcome = failures.note(address, noon);
        CHECK(outcome.is_within);
        CHECK(outcome.rate_limit.remaining == i);
    }

    const auto past = failures.note(address, noon);
    CHECK_FALSE(past.is_within);
    CHECK(past.rate_limit.remaining == 0);
}

TEST_CASE("the next minute begins anew", "[gateway][quota]")
{
    failed_authentication failures;
    const auto address = make_address("192.0.2.1");
    for (int i = 0; i < 61; ++i)
        failures.note(address, noon);

    const auto later = failures.note(address, noon + std::chrono::seconds(50));

    CHECK(later.is_within);
    CHECK(later.rate_limit.remaining == 59);
}

TEST_CASE("addresses count by themselves, IPv6 by its /64, mapped IPv4 as IPv4", "[gateway][quota]")
{
    failed_authentication failures;
    failures.note(make_address("192.0.2.1"), noon);
    failures.note(make_address("2001:db8:1:2::1"), noon);

    CHECK(failures.rate_limit(make_address("192.0.2.2"), noon).remaining == 60);
    CHECK(failures.rate_limit(make_address("::ffff:192.0.2.1"), noon).remaining == 59);
    CHECK(failures.rate_limit(make_address("2001:db8:1:2:ffff::9"), noon).remaining == 59);
    CHECK(failures.rate_limit(make_address("2001:db8:1:3::1"), noon).remaining == 60);
}
