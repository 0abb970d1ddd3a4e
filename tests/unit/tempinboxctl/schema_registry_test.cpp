#include "tempinboxctl/schema_registry.hpp"

#include "common/json/value.hpp"
#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <deque>

using namespace tempinbox;
using namespace tempinbox::ctl;
using Catch::Contains;

namespace {

constexpr const char* guid = "89791762-2336-4186-9674-299b90a802e2";

// Answers in turn, and keeps what was asked.
struct scripted_registry
{
    std::deque<http::client_response> responses;
    std::vector<http::client_request> requests;

    http::sender sender()
    {
        return [this](http::client_request request) { return answer(std::move(request)); };
    }
    awaitable<http::client_response> answer(http::client_request request)
    {
        requests.push_back(std::move(request));
        auto response = std::move(responses.front());
        responses.pop_front();
        co_return response;
    }
    void add(unsigned status, std::string body)
    {
        responses.emplace_back().status = status;
        responses.back().body = std::move(body);
    }
    result<uuid> publish(schema_registry account = {"http://registry.test:8081/", "", {}})
    {
        return testing::await(
            register_schema(sender(), std::move(account), "email.received-value", "syntax;"));
    }
};

} // namespace

TEST_CASE("a schema is registered under its subject, and its GUID comes back",
          "[tempinboxctl][schemas]")
{
    scripted_registry registry;
    registry.add(200, std::string(R"({"id":7,"guid":")") + guid + "\"}");

    CHECK(registry.publish().value().text() == guid);

    REQUIRE(registry.requests.size() == 1);
    const auto& request = registry.requests[0];
    CHECK(request.method == "POST");
    CHECK(request.url == "http://registry.test:8081/subjects/email.received-value/versions");
    CHECK_FALSE(http::find_header(request.headers, "Authorization"));
    const auto body = json::value::parse(request.body).value();
    CHECK(body["schemaType"].text() == "PROTOBUF");
    CHECK(body["schema"].text() == "syntax;");
}

TEST_CASE("a registry that answers with a number is asked for the GUID", "[tempinboxctl][schemas]")
{
    scripted_registry registry;
    registry.add(200, R"({"id":7})");
    registry.add(200, std::string(R"({"schema":"syntax;","guid":")") + guid + "\"}");

    CHECK(registry.publish().value().text() == guid);

    REQUIRE(registry.requests.size() == 2);
    CHECK(registry.requests[1].method == "GET");
    CHECK(registry.requests[1].url ==
          "http://registry.test:8081/schemas/ids/7?subject=email.received-value");
}

TEST_CASE("a registry without GUIDs is refused with a reason", "[tempinboxctl][schemas]")
{
    scripted_registry registry;
    registry.add(200, R"({"id":7})");
    registry.add(200, R"({"schema":"syntax;"})");

    CHECK_THAT(registry.publish().error().message, Contains("GUID"));
}

TEST_CASE("a user's password goes with every call", "[tempinboxctl][schemas]")
{
    scripted_registry registry;
    registry.add(200, R"({"id":7})");
    registry.add(200, std::string(R"({"guid":")") + guid + "\"}");

    REQUIRE(registry.publish({"http://registry.test", "ann", secret("pw")}));

    for (const auto& request : registry.requests)
        CHECK(http::find_header(request.headers, "Authorization") == "Basic YW5uOnB3");
}

TEST_CASE("what a registry refuses is told in its words", "[tempinboxctl][schemas]")
{
    scripted_registry registry;
    registry.add(409, R"({"error_code":409,"message":"not compatible"})");
    registry.add(401, "Unauthorized");
    registry.add(200, "[]");
    auto& unreachable = registry.responses.emplace_back();
    unreachable.error = http::exchange_error::connect;
    unreachable.error_text = "connection refused";

    const auto incompatible = registry.publish().error();
    CHECK(incompatible.code == errc::conflict);
    CHECK_THAT(incompatible.message,
               Contains("email.received-value") && Contains("not compatible"));
    CHECK_THAT(registry.publish().error().message, Contains("401"));
    CHECK_THAT(registry.publish().error().message, Contains("no JSON object"));
    CHECK_THAT(registry.publish().error().message, Contains("connection refused"));
}
