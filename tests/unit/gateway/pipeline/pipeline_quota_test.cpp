#include "unit/gateway/pipeline/arranged_pipeline.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

TEST_CASE("a used-up day says when it ends", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.is_quota_left = false;

    const auto response = arranged.send(make_request("GET", "/v1/things"));

    CHECK(response.status == 429);
    CHECK(number(response, "Retry-After") == 43'200);
    CHECK(message(response) ==
          "The daily limit of 10000 requests is used up; it resets at 2026-11-22T00:00:00.000Z");
}

TEST_CASE("past the plan's burst a key gets its own 429, which is not counted against the day",
          "[gateway]")
{
    arranged_pipeline p;
    p.owner.account.limits.burst_per_second = 2;
    for (int i = 0; i < 2; ++i)
        CHECK(p.send(make_request("POST", "/v1/things")).status == 200);

    const auto refused = p.send(make_request("GET", "/v1/nothing"));
    p.clock.advance(std::chrono::seconds(1));
    const auto later = p.send(make_request("POST", "/v1/things"));

    CHECK(refused.status == 429);
    CHECK(number(refused, "Retry-After") == 1);
    CHECK(number(refused, "X-RateLimit-Remaining") == 1'234);
    CHECK(refused.body.find("in one second") != std::string::npos);
    CHECK(later.status == 200);
    CHECK(p.quota_taken == 3);
}
