#include "unit/gateway/pipeline/arranged_pipeline.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using accounts::scope_set;

namespace {

http::request make_post()
{
    auto received = make_request("POST", "/v1/things");
    received.headers.emplace_back("Idempotency-Key", "again");
    return received;
}

} // namespace

TEST_CASE("a key needs the scope of the operation, and the refusal names it",
          "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    arranged.owner.access.scopes = scope_set::of_names({"emails:write", "inboxes:read"});

    const auto read = arranged.send(make_request("GET", "/v1/things"));
    const auto written = arranged.send(make_request("POST", "/v1/things"));

    CHECK(written.status == 200);
    CHECK(read.status == 403);
    CHECK(message(read) == "This operation needs an API key with the scope emails:read; this key "
                           "has inboxes:read, emails:write");
    CHECK(number(read, "X-RateLimit-Remaining") == 9'999); // it counts as any other
}

TEST_CASE("an operation that needs any scope is for every key", "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    arranged.owner.access.scopes = scope_set::of_names({"account:read"});

    CHECK(arranged.send(make_request("GET", "/v1/open")).status == 200);
}

TEST_CASE("an operation without a scope is for no restricted key",
          "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    CHECK(arranged.send(make_request("GET", "/v1/large")).status == 200);

    arranged.owner.access.scopes = scope_set::all();

    CHECK(arranged.send(make_request("GET", "/v1/large")).status == 403);
}

TEST_CASE("the scope is judged before the body, and before a stored response is given again",
          "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    arranged.owner.access.scopes = scope_set::of_names({"emails:read"});
    auto received = make_post();
    received.body = "not JSON";
    received.body_too_large = true;

    CHECK(arranged.send(received).status == 403);

    CHECK(arranged.idempotent_calls_made == 0);
}

TEST_CASE("a path that is none stays 404 and a method 405, whatever the scopes",
          "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    arranged.owner.access.scopes = scope_set::of_names({"account:read"});

    CHECK(arranged.send(make_request("GET", "/v1/nothing")).status == 404);
    CHECK(arranged.send(make_request("DELETE", "/v1/things")).status == 405);
}

TEST_CASE("a key with a tag cannot call webhooks, whatever its scopes",
          "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    arranged.owner.access.tag = "ci";

    const auto response = arranged.send(make_request("GET", "/v1/hooks"));

    CHECK(response.status == 403);
    CHECK(message(response) == "This operation needs an API key with the scope webhooks:read, "
                               "which a key with a tag cannot have");
}

TEST_CASE("what is outside the key's tag does not exist, and no stored response is given",
          "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    arranged.owner.access.tag = "ci";
    arranged.is_outside_tag = true;

    CHECK(arranged.send(make_request("GET", "/v1/things")).status == 404);
    CHECK(arranged.send(make_post()).status == 404);

    CHECK(arranged.idempotent_calls_made == 0);
}

TEST_CASE("a stored response whose inbox lost the key's tag is not given again",
          "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    arranged.owner.access.tag = "ci";
    CHECK(arranged.send(make_post()).status == 200);

    arranged.is_created_outside_tag = true;

    CHECK(arranged.send(make_post()).status == 404);
}

TEST_CASE("a key is refused like a revoked one from the moment that it expires at",
          "[gateway][pipeline][key-access]")
{
    arranged_pipeline arranged;
    arranged.owner.access.expires_at = noon + std::chrono::seconds(1);
    const auto before = arranged.send(make_request("GET", "/v1/things"));
    arranged.clock.advance(std::chrono::seconds(1));
    const auto after = arranged.send(make_request("GET", "/v1/things"));
    const auto unknown = arranged.send(make_request("GET", "/v1/things", unknown_key));

    CHECK(before.status == 200);
    CHECK(after.status == 401);
    CHECK(message(after) == message(unknown));
}
