#include "unit/gateway/pipeline/arranged_pipeline.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

template class tempinbox::gateway::basic_pipeline<scripted_parts>;

TEST_CASE("the checks stand in the documented order", "[gateway][pipeline]")
{
    // Each request has every fault from its own on: the first one decides.
    struct row
    {
        const char* first_fault;
        unsigned status;
        bool is_counted;
    };
    const row rows[] = {{"key", 401, false}, {"plan", 403, false},  {"quota", 429, true},
                        {"path", 404, true}, {"method", 405, true}, {"size", 413, true},
                        {"type", 415, true}, {"nothing", 200, true}};
    const auto position = [&](const std::string& fault) {
        const auto found = std::find_if(std::begin(rows), std::end(rows),
                                        [&](const row& one) { return fault == one.first_fault; });
        return found - std::begin(rows);
    };

    for (std::ptrdiff_t first = 0; first < std::ssize(rows); ++first) {
        const auto has = [&](const char* fault) { return first <= position(fault); };
        arranged_pipeline arranged;
        arranged.owner.account.limits.api_access = !has("plan");
        arranged.is_quota_left = !has("quota");
        // A path fault hides the method's, and the method's the size's, so each is given alone
        // where it is the first.
        auto received = make_request("POST", "/v1/things", has("key") ? unknown_key : good_key);
        if (has("path"))
            received.path = "/v1/nothing";
        else if (has("method"))
            received.method = "PUT";
        received.body_too_large = has("size");
        if (has("type")) {
            received.body = "x=1";
            received.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
        }
        INFO(rows[first].first_fault);

        const auto response = arranged.send(received);

        CHECK(response.status == rows[first].status);
        CHECK((arranged.quota_taken == 1) == rows[first].is_counted);
        CHECK(number(response, "X-RateLimit-Limit") >= 0);
        CHECK(number(response, "X-RateLimit-Remaining") >= 0);
        CHECK(number(response, "X-RateLimit-Reset") > to_unix_seconds(noon));
    }
}

TEST_CASE("a preflight needs no key and is not counted", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    auto received = make_request("OPTIONS", "/v1/things", "");
    received.headers.emplace_back("Origin", "https://app.example");
    received.headers.emplace_back("Access-Control-Request-Method", "POST");

    const auto response = arranged.send(received);

    CHECK(response.status == 204);
    CHECK(http::find_header(response.headers, "Access-Control-Allow-Origin") == "*");
    const auto allowed =
        http::find_header(response.headers, "Access-Control-Allow-Headers").value_or("");
    for (const auto* name : {"X-API-Key", "Accept", "Idempotency-Key", "If-None-Match"})
        CHECK(allowed.find(name) != std::string_view::npos);
    CHECK(arranged.quota_taken == 0);
}

TEST_CASE("OPTIONS that is no preflight names the methods", "[gateway][pipeline]")
{
    arranged_pipeline arranged;

    const auto response = arranged.send(make_request("OPTIONS", "/v1/things"));

    CHECK(response.status == 204);
    CHECK(http::find_header(response.headers, "Allow") == "GET, HEAD, POST, OPTIONS");
}

TEST_CASE("HEAD is answered as GET and counts", "[gateway][pipeline]")
{
    arranged_pipeline arranged;

    const auto response = arranged.send(make_request("HEAD", "/v1/things"));

    CHECK(response.status == 200);
    CHECK(arranged.quota_taken == 1);
    CHECK(arranged.uses_noted == 1);
}

TEST_CASE("responses carry the account's numbers, and allow the browser to read them",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    auto received = make_request("GET", "/v1/things");
    received.headers.emplace_back("Origin", "https://app.example");

    const auto response = arranged.send(received);

    CHECK(number(response, "X-RateLimit-Limit") == 10'000);
    CHECK(number(response, "X-RateLimit-Remaining") == 9'999);
    CHECK(number(response, "X-RateLimit-Reset") == midnight);
    CHECK(http::find_header(response.headers, "Access-Control-Allow-Origin") == "*");
    CHECK(http::find_header(response.headers, "Access-Control-Expose-Headers")
              ->find("X-RateLimit-Remaining") != std::string_view::npos);
}

TEST_CASE("what throws becomes 503 or 500 with the usual headers and without its text",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;

    const auto lost = arranged.send(make_request("GET", "/v1/lost"));
    const auto broken = arranged.send(make_request("GET", "/v1/broken"));
    arranged.is_key_store_away = true;
    const auto unchecked = arranged.send(make_request("GET", "/v1/things"));

    CHECK(lost.status == 503);
    CHECK(number(lost, "Retry-After") == 1);
    CHECK(number(lost, "X-RateLimit-Remaining") == 9'999);
    CHECK(lost.body.find("10.1.2.3") == std::string::npos);
    CHECK(broken.status == 500);
    CHECK(broken.body.find("secret") == std::string::npos);
    CHECK(unchecked.status == 503);
    CHECK(number(unchecked, "X-RateLimit-Limit") == 60);
}

TEST_CASE("the pipeline serves /v1 and what is below it", "[gateway][pipeline]")
{
    CHECK(pipeline::serves("/v1"));
    CHECK(pipeline::serves("/v1/"));
    CHECK(pipeline::serves("/v1/inboxes"));
    CHECK_FALSE(pipeline::serves("/"));
    CHECK_FALSE(pipeline::serves("/v10/inboxes"));
    CHECK_FALSE(pipeline::serves("/V1/inboxes"));
}

TEST_CASE("a target that cannot be decoded is 400, after key, path and method",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    auto received = make_request("GET", "/v1/things");
    received.target_error = "The query is not well-formed";
    auto unknown = received;
    unknown.path = unknown.target = "/v1/nothing";
    auto keyless = make_request("GET", "/v1/things", "");
    keyless.target_error = received.target_error;

    const auto response = arranged.send(received);

    CHECK(response.status == 400);
    CHECK(response.body.find("The query is not well-formed") != std::string::npos);
    CHECK(number(response, "X-RateLimit-Remaining") == 9'999);
    CHECK(arranged.send(unknown).status == 404);
    CHECK(arranged.send(keyless).status == 401);
}

TEST_CASE("a large response to a GET is counted until it is sent, and without room it is 503; a "
          "change gets its response",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;

    auto first = arranged.send(make_request("GET", "/v1/large"));
    const auto refused = arranged.send(make_request("GET", "/v1/large"));
    const auto used = arranged.memory.used();
    const auto small = arranged.send(make_request("GET", "/v1/things"));
    const auto changed = arranged.send(make_request("POST", "/v1/large"));
    first = http::response();
    const auto later = arranged.send(make_request("GET", "/v1/large"));

    CHECK(used == 200'002);
    CHECK(refused.status == 503);
    CHECK(number(refused, "Retry-After") == 1);
    CHECK(number(refused, "X-RateLimit-Remaining") == 9'999);
    CHECK(small.status == 200);
    CHECK(changed.status == 200);
    CHECK(later.status == 200);
}
