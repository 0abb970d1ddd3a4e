#include "integration/gateway/pipeline/arranged_api.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::arranged_api;
using testing::header;
using testing::make_request;
using testing::message;
using testing::unknown_key;

namespace {

const std::string some_inbox = "/v1/inboxes/01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";

accounts::key_access tagged()
{
    accounts::key_access access;
    access.tag = "ci";
    return access;
}

} // namespace

TEST_CASE("the scope is judged before the body, and before a stored response is given again",
          "[gateway][pipeline][key-access][postgres]")
{
    arranged_api api;
    accounts::key_access reading;
    reading.scopes = accounts::scope_set::of_names({"inboxes:read"});
    api.key = api.create_key(api.account, reading);
    auto received = make_request("POST", "/v1/inboxes", api.key, {{"Idempotency-Key", "again"}});
    received.body = "not JSON";
    received.body_too_large = true;

    CHECK(api.send(received).status == 403);

    CHECK(api.stored_responses() == 0);
}

TEST_CASE("the same POST with its Idempotency-Key gets the same response",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;

    const auto first = api.post_once("/v1/inboxes", "again");
    const auto again = api.post_once("/v1/inboxes", "again");

    CHECK(first.status == 201);
    CHECK(again.body == first.body);
    CHECK(header(again, "Idempotency-Replayed") == "true");
    CHECK(api.counted() == 2);
}

TEST_CASE("what is outside the key's tag does not exist, and no stored response is given",
          "[gateway][pipeline][key-access][postgres]")
{
    arranged_api api;
    api.key = api.create_key(api.account, tagged());
    CHECK(api.send("GET", some_inbox).status == 200);
    api.is_outside_tag = true;

    CHECK(api.send("GET", some_inbox).status == 404);
    CHECK(api.post_once(some_inbox + "/things", "again").status == 404);

    CHECK(api.stored_responses() == 0);
}

TEST_CASE("a stored response whose inbox lost the key's tag is not given again",
          "[gateway][pipeline][key-access][postgres]")
{
    arranged_api api;
    api.key = api.create_key(api.account, tagged());
    CHECK(api.post_once("/v1/inboxes", "again").status == 201);

    api.is_outside_tag = true;

    CHECK(api.post_once("/v1/inboxes", "again").status == 404);
}

TEST_CASE("a key is refused like a revoked one from the moment that it expires at",
          "[gateway][pipeline][key-access][postgres]")
{
    arranged_api api;
    accounts::key_access ending;
    ending.expires_at = api.noon + 1s;
    api.key = api.create_key(api.account, ending);

    const auto before = api.send("GET", "/v1/open");
    api.clock.advance(1s);
    const auto after = api.send("GET", "/v1/open");
    const auto unknown = api.send(make_request("GET", "/v1/open", unknown_key()));

    CHECK(before.status == 200);
    CHECK(after.status == 401);
    CHECK(message(after) == message(unknown));
}

TEST_CASE("a key is refused from the moment that its account's pass ends at",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    REQUIRE(testing::await(api.accounts.set_plan(api.account, "pass7", api.noon + 1s)));

    const auto before = api.send("GET", "/v1/things");
    api.clock.advance(1s);
    const auto after = api.send("GET", "/v1/things");

    CHECK(before.status == 200);
    CHECK(after.status == 403);
    CHECK(message(after) == "API access is not available on the plan free");
}
