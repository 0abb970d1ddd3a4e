#include "gateway/site/documentation.hpp"

#include "common/json/value.hpp"
#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

http::response send(const std::string& method, const std::string& path,
                    const std::string& base_path = "")
{
    http::router site;
    gateway::add_documentation(site, base_path);
    http::request received;
    received.method = method;
    received.target = path;
    received.path = path;
    return testing::await(site.dispatch(received));
}

} // namespace

TEST_CASE("the contract of the API is served as JSON", "[gateway][site]")
{
    const auto [base_path, server] =
        GENERATE(table<std::string, std::string>({{"", "/"}, {"/some/path", "/some/path"}}));

    const auto response = send("GET", "/openapi.json", base_path);

    CHECK(response.status == 200);
    CHECK(*http::find_header(response.headers, "Content-Type") == "application/json");
    CHECK(*http::find_header(response.headers, "Access-Control-Allow-Origin") == "*");
    json::limits whole;
    whole.bytes = 1024 * 1024;
    const auto contract = json::value::parse(response.body, whole);
    REQUIRE(contract);
    CHECK((*contract)["openapi"].text() == "3.1.0");
    CHECK((*contract)["servers"][0]["url"].text() == server);
}

TEST_CASE("the page may load its style sheet and nothing else", "[gateway][site]")
{
    const auto response = send("GET", "/docs");

    CHECK(response.status == 200);
    CHECK(*http::find_header(response.headers, "Content-Security-Policy") ==
          "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'");
    CHECK(response.body.find("<script") == std::string::npos);
    CHECK(response.body.find("style=") == std::string::npos);
    CHECK(response.body.find("src=") == std::string::npos);
    CHECK(send("GET", "/docs/style.css").status == 200);
}

TEST_CASE("the documentation is only read", "[gateway][site]")
{
    const auto path = GENERATE(as<std::string>{}, "/openapi.json", "/docs", "/docs/style.css");

    CHECK(send("HEAD", path).status == 200);
    const auto refused = send("POST", path);
    CHECK(refused.status == 405);
    CHECK(*http::find_header(refused.headers, "Allow") == "GET, HEAD, OPTIONS");
}
