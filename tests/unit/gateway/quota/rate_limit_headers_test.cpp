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
        const auto refused = gateway::too_many_requests(
            error_reason::daily_limit, "no more", gateway::rate_limit_headers(60, 0, reset), now);
        CHECK(refused.status == 429);
        CHECK(http::find_header(refused.headers, "X-Error-Code") == "daily_limit");
        return std::string(http::find_header(refused.headers, "Retry-After").value_or(""));
    };

    CHECK(retry_after(1'060) == "60");
    CHECK(retry_after(1'000) == "1");
    CHECK(retry_after(900) == "1");
}

TEST_CASE("a key's limits are said in the fields of the IETF's draft", "[gateway][quota]")
{
    const time_point now{std::chrono::seconds{1'000}};
    const gateway::rate_limit_headers day(3'000, 2'990, 2'234);
    const auto fields = [&](const gateway::key_allowance_state& allowance) {
        http::response response;
        gateway::set_allowance_headers(response, allowance, day, now);
        return std::pair(
            std::string(http::find_header(response.headers, "RateLimit-Policy").value_or("")),
            std::string(http::find_header(response.headers, "RateLimit").value_or("")));
    };
    using both = std::pair<std::string, std::string>;

    CHECK(fields({3'000, 50, {}}) ==
          both(R"("burst";q=50;w=1, "day";q=3000;w=86400)", R"("day";r=2990;t=1234)"));
    CHECK(fields({3'000, 50, 2s}) == both(R"("burst";q=50;w=1, "day";q=3000;w=86400)",
                                          R"("burst";r=0;t=2, "day";r=2990;t=1234)"));
    CHECK(fields({3'000, 0, {}}) == both(R"("day";q=3000;w=86400)", R"("day";r=2990;t=1234)"));
    CHECK(fields({0, 50, {}}) == both(R"("burst";q=50;w=1)", ""));
    CHECK(fields({0, 0, {}}) == both("", ""));
}
