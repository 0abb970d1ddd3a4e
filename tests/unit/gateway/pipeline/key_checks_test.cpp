#include "gateway/pipeline/key_checks.hpp"

#include "accounts/api_key.hpp"
#include "unit/gateway/pipeline/test_operations.hpp"
#include "unit/gateway/quota/fake_rate_limit.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::await;
using testing::header;
using testing::message;
using testing::number;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");
const auto midnight = to_unix_seconds(*parse_iso8601("2026-11-22T00:00:00Z"));

accounts::key_owner premium_owner()
{
    accounts::key_owner owner;
    owner.key = key_id::make();
    owner.position = 1;
    owner.account.account = account_id::make();
    owner.account.plan = "premium";
    owner.account.limits.api_access = true;
    owner.account.limits.requests_per_day = 10'000;
    owner.account.limits.api_keys = 5;
    return owner;
}

// A request on its way through the checks, at noon.
class arranged_request
{
public:
    explicit arranged_request(const http::request& sent)
        : received(sent),
          context(received, operations.find(received), {}, noon)
    {
        context.client = received.peer;
    }
    explicit arranged_request(const accounts::key_owner& owner)
        : arranged_request(testing::make_request("GET", "/v1/things"))
    {
        context.identify(std::make_shared<const accounts::key_owner>(owner));
    }

private:
    routes operations{testing::test_operations()};
    http::request received;

public:
    request_context context;
};

} // namespace

TEST_CASE("a plan without API access is 403 with empty numbers", "[gateway][pipeline]")
{
    auto owner = premium_owner();
    owner.account.plan = "free";
    owner.account.limits = plans::plan_limits();
    arranged_request arranged(owner);

    const auto refused = check_plan(arranged.context);

    REQUIRE(refused);
    CHECK(refused->status == 403);
    CHECK(message(*refused) == "API access is not available on the plan free");
    CHECK(arranged.context.rate_limit == rate_limit_headers(0, 0, midnight));
}

TEST_CASE("an ended pass is free from that moment", "[gateway][pipeline]")
{
    auto owner = premium_owner();
    owner.account.plan = "pass7";
    owner.account.plan_ends_at = noon + 1s;
    arranged_request arranged(owner);

    const auto before = check_plan(arranged.context);
    arranged.context.who.now += 1s;
    const auto after = check_plan(arranged.context);

    CHECK_FALSE(before);
    REQUIRE(after);
    CHECK(message(*after) == "API access is not available on the plan free");
}

TEST_CASE("only the oldest keys up to the plan's number are active", "[gateway][pipeline]")
{
    auto owner = premium_owner();
    owner.account.limits.api_keys = 2;
    owner.position = 2;
    arranged_request second(owner);
    owner.position = 3;
    arranged_request third(owner);

    CHECK_FALSE(check_plan(second.context));
    const auto refused = check_plan(third.context);

    REQUIRE(refused);
    CHECK(refused->status == 403);
    CHECK(http::find_header(refused->headers, "X-Error-Code") == "key_inactive");
}

TEST_CASE("past the plan's burst a key gets its own 429 with the last known numbers of the day",
          "[gateway][pipeline]")
{
    testing::fake_rate_limit rate_limit;
    testing::running_quota_client quota(rate_limit);
    auto owner = premium_owner();
    owner.account.limits.burst_per_second = 2;
    arranged_request arranged(owner);
    key_bursts bursts;
    REQUIRE_FALSE(await(check_quota(*quota, arranged.context)));

    CHECK_FALSE(check_burst(bursts, *quota, arranged.context));
    CHECK_FALSE(check_burst(bursts, *quota, arranged.context));
    const auto refused = check_burst(bursts, *quota, arranged.context);
    arranged.context.who.now += 1s;
    const auto later = check_burst(bursts, *quota, arranged.context);

    REQUIRE(refused);
    CHECK(refused->status == 429);
    CHECK(number(*refused, "Retry-After") == 1);
    CHECK_THAT(message(*refused), Catch::StartsWith("More than 2 requests in one second"));
    CHECK(arranged.context.rate_limit.remaining == 9'999);
    CHECK_FALSE(later);
    CHECK(rate_limit.calls.size() == 1);
}

TEST_CASE("what an operation adds to the burst is waited for, as Retry-After says",
          "[gateway][pipeline]")
{
    testing::fake_rate_limit rate_limit;
    testing::running_quota_client quota(rate_limit);
    auto owner = premium_owner();
    owner.account.limits.burst_per_second = 10;
    arranged_request arranged(owner);
    key_bursts bursts;

    CHECK_FALSE(check_burst(bursts, *quota, arranged.context));
    add_to_burst(bursts, arranged.context, 29);
    const auto refused = check_burst(bursts, *quota, arranged.context);
    arranged.context.who.now += 3s;
    const auto later = check_burst(bursts, *quota, arranged.context);

    REQUIRE(refused);
    CHECK(number(*refused, "Retry-After") == 3);
    CHECK(arranged.context.burst_wait == 3s);
    CHECK_FALSE(later);
}

TEST_CASE("a used-up day says when it ends", "[gateway][pipeline]")
{
    testing::fake_rate_limit rate_limit;
    rate_limit.reset = midnight;
    rate_limit.is_used_up = true;
    testing::running_quota_client quota(rate_limit);
    arranged_request arranged(premium_owner());

    const auto refused = await(check_quota(*quota, arranged.context));

    REQUIRE(refused);
    CHECK(refused->status == 429);
    CHECK(number(*refused, "Retry-After") == 43'200);
    CHECK(message(*refused) ==
          "The daily limit of 10000 requests is used up; it resets at 2026-11-22T00:00:00.000Z");
    CHECK(arranged.context.rate_limit == rate_limit_headers(10'000, 0, midnight));
}

TEST_CASE("a request without a well-formed key costs its address one of sixty failures, past which "
          "it is 429",
          "[gateway][pipeline]")
{
    client_failures failures;
    arranged_request arranged(testing::make_request("GET", "/v1/things", "nonsense"));

    for (int i = 59; i >= 0; --i) {
        CHECK(read_key(failures, arranged.context)->status == 401);
        CHECK(arranged.context.rate_limit.remaining == i);
    }
    const auto past = read_key(failures, arranged.context);

    REQUIRE(past);
    CHECK(past->status == 429);
    CHECK(number(*past, "Retry-After") == 60);
    CHECK(failures.lookups.has_allowance(arranged.context.client, noon));
}

TEST_CASE("a well-formed key passes by its digest alone", "[gateway][pipeline]")
{
    client_failures failures;
    const auto key = accounts::make_api_key().reveal();
    arranged_request arranged(testing::make_request("GET", "/v1/things", key));

    CHECK_FALSE(read_key(failures, arranged.context));

    CHECK(arranged.context.key_digest == accounts::api_key_digest(key));
    CHECK(failures.authentication.rate_limit(arranged.context.client, noon).remaining == 60);
}

TEST_CASE("a preflight is answered before the key, but not where the path has a check of its own",
          "[gateway][pipeline]")
{
    const http::header_list preflight{{"Origin", "https://app.example"},
                                      {"Access-Control-Request-Method", "POST"}};
    const arranged_request open(testing::make_request("OPTIONS", "/v1/things", "", preflight));
    const arranged_request closed(testing::make_request("OPTIONS", "/programs", "", preflight));
    const arranged_request nowhere(testing::make_request("OPTIONS", "/v1/nothing", "", preflight));
    const arranged_request plain(testing::make_request("OPTIONS", "/v1/things"));

    CHECK(check_entry(open.context, {})->status == 204);
    CHECK(check_entry(nowhere.context, {})->status == 204);
    CHECK(check_entry(closed.context, {})->status == 403);
    CHECK_FALSE(check_entry(plain.context, {}));
    CHECK_THAT(header(*check_entry(open.context, {}), "Access-Control-Allow-Headers"),
               Catch::Contains("X-API-Key"));
}
