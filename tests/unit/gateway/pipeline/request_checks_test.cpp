#include "gateway/pipeline/request_checks.hpp"

#include "unit/gateway/pipeline/test_operations.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using accounts::scope_set;
using testing::make_request;
using testing::message;

namespace {

// The response of the first check that refuses the request, else 200.
http::response check(http::request received, const accounts::key_access& access = {})
{
    static const routes operations(testing::test_operations());
    caller who;
    who.access = access;
    return check_request(received, operations.find(received), who)
        .value_or(http::response(200, "", ""));
}

http::request make_json_post(http::header_list headers, std::string body = "{}")
{
    auto received = make_request("POST", "/v1/things", "", std::move(headers));
    received.body = std::move(body);
    return received;
}

accounts::key_access access_to(const std::vector<std::string>& scopes)
{
    accounts::key_access access;
    access.scopes = scope_set::of_names(scopes);
    return access;
}

} // namespace

TEST_CASE("a key needs the scope of the operation, and the refusal names it",
          "[gateway][pipeline][key-access]")
{
    const auto access = access_to({"emails:write", "inboxes:read"});

    const auto read = check(make_request("GET", "/v1/things"), access);
    const auto written = check(make_request("POST", "/v1/things"), access);

    CHECK(written.status == 200);
    CHECK(read.status == 403);
    CHECK(message(read) == "This operation needs an API key with the scope emails:read; this key "
                           "has inboxes:read, emails:write");
}

TEST_CASE("an operation that needs any scope is for every key", "[gateway][pipeline][key-access]")
{
    CHECK(check(make_request("GET", "/v1/open"), access_to({"account:read"})).status == 200);
}

TEST_CASE("an operation without a scope is for no restricted key",
          "[gateway][pipeline][key-access]")
{
    accounts::key_access restricted;
    restricted.scopes = scope_set::all();

    CHECK(check(make_request("GET", "/v1/large")).status == 200);
    CHECK(check(make_request("GET", "/v1/large"), restricted).status == 403);
}

TEST_CASE("a path that is none stays 404 and a method 405, whatever the scopes",
          "[gateway][pipeline][key-access]")
{
    const auto access = access_to({"account:read"});

    CHECK(check(make_request("GET", "/v1/nothing"), access).status == 404);
    CHECK(check(make_request("DELETE", "/v1/things"), access).status == 405);
}

TEST_CASE("a key with a tag cannot call webhooks, whatever its scopes",
          "[gateway][pipeline][key-access]")
{
    accounts::key_access tagged;
    tagged.tag = "ci";

    const auto response = check(make_request("GET", "/v1/hooks"), tagged);

    CHECK(response.status == 403);
    CHECK(message(response) == "This operation needs an API key with the scope webhooks:read, "
                               "which a key with a tag cannot have");
}

TEST_CASE("OPTIONS that is no preflight names the methods", "[gateway][pipeline]")
{
    const auto response = check(make_request("OPTIONS", "/v1/things"));

    CHECK(response.status == 204);
    CHECK(testing::header(response, "Allow") == "GET, HEAD, POST, OPTIONS");
}

TEST_CASE("JSON bodies are taken whatever the parameters of their type, and no body needs no type",
          "[gateway][pipeline]")
{
    struct row
    {
        const char* type;
        const char* body;
        unsigned status;
    };
    const row rows[] = {{"application/json", "{}", 200},
                        {"Application/JSON; charset=utf-8", "{}", 200},
                        {"application/json ;x=y", "{}", 200},
                        {"text/plain", "{}", 415},
                        {"application/json5", "{}", 415},
                        {"", "{}", 415},
                        {"application/x-www-form-urlencoded", "", 200}};

    for (const auto& row : rows) {
        INFO(row.type);
        CHECK(check(make_json_post({{"Content-Type", row.type}}, row.body)).status == row.status);
    }
    CHECK(check(make_json_post({})).status == 415);
    CHECK(
        check(make_json_post({{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}}))
            .status == 415);
}

TEST_CASE("a patch is taken by both of its types", "[gateway][pipeline]")
{
    const auto sent_as = [](const std::string& type) {
        auto received = make_request("PATCH", "/v1/patched", "", {{"Content-Type", type}});
        received.body = "{}";
        return check(received);
    };

    CHECK(sent_as("application/json").status == 200);
    CHECK(sent_as("Application/Merge-Patch+JSON; charset=utf-8").status == 200);
    const auto refused = sent_as("application/json-patch+json");
    CHECK(refused.status == 415);
    CHECK(testing::header(refused, "Accept-Patch") ==
          "application/json, application/merge-patch+json");
}

TEST_CASE("a header that has one value must not come twice", "[gateway][pipeline]")
{
    for (const std::string name : {"Content-Type", "Content-Encoding", "Idempotency-Key"}) {
        const auto response = check(make_json_post({{name, "a"}, {name, "a"}}, ""));

        CHECK(response.status == 400);
        CHECK(message(response) == "Header " + name + " is given more than once");
    }
}

TEST_CASE("a target that cannot be decoded is 400, after path and method", "[gateway][pipeline]")
{
    const auto send = [](const std::string& method, const std::string& path) {
        auto received = make_request(method, path);
        received.target_error = "The query is not well-formed";
        return check(received);
    };

    CHECK(send("GET", "/v1/nothing").status == 404);
    CHECK(send("DELETE", "/v1/things").status == 405);
    const auto refused = send("GET", "/v1/things");
    CHECK(refused.status == 400);
    CHECK(message(refused) == "The query is not well-formed");
}
