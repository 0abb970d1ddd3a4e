#include "unit/gateway/pipeline/arranged_pipeline.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

TEST_CASE("sixty failures from one address are 401, then 429 until the minute ends, and a valid "
          "key passes all the while",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    for (int i = 59; i >= 0; --i) {
        const auto response =
            arranged.send(make_request("GET", "/v1/things", i % 2 == 0 ? "" : unknown_key));
        CHECK(response.status == 401);
        CHECK(number(response, "X-RateLimit-Limit") == 60);
        CHECK(number(response, "X-RateLimit-Remaining") == i);
    }

    const auto past = arranged.send(make_request("GET", "/v1/things", "nonsense"));
    const auto valid = arranged.send(make_request("GET", "/v1/things"));

    CHECK(past.status == 429);
    CHECK(number(past, "Retry-After") == 60);
    CHECK(valid.status == 200);
}

TEST_CASE("past sixty lookups of unknown keys an address gets no more, but keys seen good pass",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    for (int i = 0; i < 60; ++i)
        CHECK(arranged.send(make_request("GET", "/v1/things", accounts::make_api_key().reveal()))
                  .status == 401);
    const auto looked_up = arranged.keys_looked_up;

    const auto past =
        arranged.send(make_request("GET", "/v1/things", accounts::make_api_key().reveal()));
    CHECK(arranged.keys_looked_up == looked_up);
    const auto seen = arranged.send(make_request("GET", "/v1/things"));
    arranged.is_key_seen = false;
    const auto unseen = arranged.send(make_request("GET", "/v1/things"));

    CHECK(past.status == 429);
    CHECK(number(past, "Retry-After") == 60);
    CHECK(number(past, "X-RateLimit-Limit") == 60);
    CHECK(number(past, "X-RateLimit-Remaining") == 0);
    CHECK(seen.status == 200);
    CHECK(unseen.status == 429);
    arranged.clock.advance(std::chrono::minutes(1));
    CHECK(arranged.send(make_request("GET", "/v1/things")).status == 200);
}

TEST_CASE("a key that cannot be looked up now is 503, which costs its address nothing",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.are_lookups_full = true;

    const auto refused = arranged.send(make_request("GET", "/v1/things"));
    arranged.are_lookups_full = false;
    const auto later = arranged.send(make_request("GET", "/v1/things", unknown_key));

    CHECK(refused.status == 503);
    CHECK(number(refused, "Retry-After") == 1);
    CHECK(number(later, "X-RateLimit-Remaining") == 59);
}

TEST_CASE("a plan without API access is 403 with empty numbers", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.owner.account.plan = "free";
    arranged.owner.account.limits = plans::plan_limits();

    const auto response = arranged.send(make_request("GET", "/v1/things"));

    CHECK(response.status == 403);
    CHECK(message(response) == "API access is not available on the plan free");
    CHECK(number(response, "X-RateLimit-Limit") == 0);
    CHECK(number(response, "X-RateLimit-Remaining") == 0);
    CHECK(number(response, "X-RateLimit-Reset") == midnight);
}

TEST_CASE("an ended pass is free from that moment", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.owner.account.plan = "pass7";
    arranged.owner.account.plan_ends_at = noon + std::chrono::seconds(1);

    const auto before = arranged.send(make_request("GET", "/v1/things"));
    arranged.clock.advance(std::chrono::seconds(1));
    const auto after = arranged.send(make_request("GET", "/v1/things"));

    CHECK(before.status == 200);
    CHECK(after.status == 403);
    CHECK(message(after) == "API access is not available on the plan free");
}

TEST_CASE("only the oldest keys up to the plan's number are active", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.owner.account.limits.api_keys = 2;
    arranged.owner.position = 2;
    const auto second = arranged.send(make_request("GET", "/v1/things"));
    arranged.owner.position = 3;
    const auto third = arranged.send(make_request("GET", "/v1/things"));

    CHECK(second.status == 200);
    CHECK(third.status == 403);
    CHECK(message(third).starts_with("This API key is inactive"));
}

TEST_CASE("two keys are none", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    auto received = make_request("GET", "/v1/things");
    received.headers.emplace_back("x-api-key", good_key);

    CHECK(arranged.send(received).status == 401);
}

TEST_CASE("the header alone decides over a request without a well-formed key, as the whole request "
          "does",
          "[gateway][pipeline]")
{
    const auto path = GENERATE(as<std::string>(), "/v1/things", "/mcp");
    const auto key = GENERATE(as<std::string>(), "", "nonsense");
    arranged_pipeline arranged, whole;
    const auto received = make_request("POST", path, key);

    const auto early = arranged.checked.judge_header(received);
    const auto late = whole.send(received);

    REQUIRE(early);
    CHECK(early->status == 401);
    CHECK(early->body == late.body);
    CHECK(number(*early, "X-RateLimit-Remaining") == 59);
    CHECK(number(late, "X-RateLimit-Remaining") == 59);
    CHECK(early->headers == late.headers);
    CHECK(arranged.keys_looked_up == 0);
}

TEST_CASE("a well-formed key is not judged by the header, and costs nothing there",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;

    CHECK_FALSE(arranged.checked.judge_header(make_request("POST", "/v1/things", unknown_key)));

    CHECK(arranged.keys_looked_up == 0);
    CHECK(number(arranged.send(make_request("GET", "/v1/things", "")), "X-RateLimit-Remaining") ==
          59);
}
