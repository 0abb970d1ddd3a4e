#include "common/http/message.hpp"

#include "unit/common/every_errc.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace tempinbox;

TEST_CASE("header names compare without case", "[http]")
{
    const http::header_list headers{{"Content-Type", "text/plain"}, {"X-A", "1"}};

    CHECK(http::find_header(headers, "content-type") == "text/plain");
    CHECK_FALSE(http::find_header(headers, "x-b"));
}

TEST_CASE("setting a response header replaces it", "[http]")
{
    http::response response(200, "text/plain", "x");
    response.set("content-type", "text/html").set("X-Count", 5);

    REQUIRE(response.headers.size() == 2);
    CHECK(response.headers[0].second == "text/html");
    CHECK(response.headers[1].second == "5");
}

TEST_CASE("problems have the API's error body", "[http]")
{
    const auto missing =
        http::error_response(failure{errc::not_found, "Inbox \"x\" does not exist"});
    CHECK(missing.status == 404);
    CHECK(missing.body ==
          R"({"statusCode":404,"error":"Not Found","message":"Inbox \"x\" does not exist"})");
    CHECK(http::find_header(missing.headers, "content-type") == "application/json");

    CHECK(http::error_response(failure{errc::rate_limited, "slow down"}).status == 429);
    const failure taken{errc::conflict, "taken", error_reason::address_taken};
    CHECK(http::find_header(http::error_response(taken).headers, "X-Error-Code") ==
          "address_taken");
    CHECK(http::find_header(http::error_response(failure{errc::invalid_argument, "x"}).headers,
                            "X-Error-Code") == "invalid_field");
    CHECK(http::error_response(failure{errc::payload_too_large, "too large"})
              .body.find("\"error\":\"Content Too Large\"") != std::string::npos);
    CHECK(http::find_header(http::error_response(failure{errc::unavailable, "away"}).headers,
                            "retry-after") == "1");
}

TEST_CASE("a request knows its raw path", "[http]")
{
    http::request received;
    received.target = "/a%2Fb?c=/d";

    CHECK(received.raw_path() == "/a%2Fb");
}

TEST_CASE("every errc has its HTTP status", "[http]")
{
    const std::map<errc, unsigned> expected{
        {errc::invalid_argument, 400},  {errc::unauthenticated, 401},
        {errc::permission_denied, 403}, {errc::not_found, 404},
        {errc::conflict, 409},          {errc::payload_too_large, 413},
        {errc::unprocessable, 422},     {errc::unsupported_media_type, 415},
        {errc::rate_limited, 429},      {errc::internal, 500},
        {errc::unavailable, 503},       {errc::deadline_exceeded, 504}};

    std::map<errc, unsigned> found;
    for (const auto code : testing::every_errc())
        found.emplace(code, http::status_of(code));

    CHECK(found == expected);
    for (const auto& [code, status] : found)
        CHECK(http::status_name(status) != "Unknown");
}
