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

TEST_CASE("a 429 may be tried again when its numbers begin anew, after a second at least",
          "[gateway][quota]")
{
    const time_point now{std::chrono::seconds{1'000}};
    const auto retry_after = [now](std::int64_t reset) {
        const auto refused =
            gateway::too_many_requests("no more", gateway::rate_limit_headers(60, 0, reset), now);
        CHECK(refused.status == 429);
        return std::string(http::find_header(refused.headers, "Retry-After").value_or(""));
    };

    CHECK(retry_after(1'060) == "60");
    CHECK(retry_after(1'000) == "1");
    CHECK(retry_after(900) == "1");
}
