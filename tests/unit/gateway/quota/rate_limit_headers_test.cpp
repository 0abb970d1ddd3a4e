#include "gateway/quota/rate_limit_headers.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

TEST_CASE("a response without an account says 0 of 0 until the next 00:00 UTC", "[gateway][quota]")
{
    const time_point noon{std::chrono::sys_days{std::chrono::year(2026) / 11 / 24} + 12h};
    auto response = http::error_response(400, "no sound HTTP");

    gateway::complete_response_without_account(response, noon);

    CHECK(http::find_header(response.headers, "X-RateLimit-Limit") == "0");
    CHECK(http::find_header(response.headers, "X-RateLimit-Remaining") == "0");
    CHECK(http::find_header(response.headers, "X-RateLimit-Reset") == "1795564800");
    CHECK(http::find_header(response.headers, "Cache-Control") == "no-store");
}
