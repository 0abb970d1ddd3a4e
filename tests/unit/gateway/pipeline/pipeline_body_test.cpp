#include "unit/gateway/pipeline/arranged_pipeline.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

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
        arranged_pipeline arranged;
        auto received = make_request("POST", "/v1/things");
        received.headers.emplace_back("Content-Type", row.type);
        received.body = row.body;
        INFO(row.type);
        CHECK(arranged.send(received).status == row.status);
    }
    arranged_pipeline arranged;
    auto untyped = make_request("POST", "/v1/things");
    untyped.body = "{}";
    CHECK(arranged.send(untyped).status == 415);
    auto packed = make_request("POST", "/v1/things");
    packed.body = "{}";
    packed.headers.emplace_back("Content-Type", "application/json");
    packed.headers.emplace_back("Content-Encoding", "gzip");
    CHECK(arranged.send(packed).status == 415);
}

TEST_CASE("a patch is taken by both of its types", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    const auto sent_as = [&](const std::string& type) {
        auto received = make_request("PATCH", "/v1/patched");
        received.body = "{}";
        received.headers.emplace_back("Content-Type", type);
        return arranged.send(received);
    };

    CHECK(sent_as("application/json").status == 200);
    CHECK(sent_as("Application/Merge-Patch+JSON; charset=utf-8").status == 200);
    const auto refused = sent_as("application/json-patch+json");
    CHECK(refused.status == 415);
    CHECK(http::find_header(refused.headers, "Accept-Patch") ==
          "application/json, application/merge-patch+json");
}

TEST_CASE("a header that has one value must not come twice", "[gateway][pipeline]")
{
    const auto name =
        GENERATE(as<std::string>{}, "Content-Type", "Content-Encoding", "Idempotency-Key");
    arranged_pipeline arranged;
    auto received = make_request("POST", "/v1/things");
    received.headers.emplace_back(name, "a");
    received.headers.emplace_back(name, "a");

    const auto response = arranged.send(received);

    CHECK(response.status == 400);
    CHECK(response.body.find("Header " + name + " is given more than once") != std::string::npos);
}
