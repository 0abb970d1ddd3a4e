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

TEST_CASE("a page of docs/ is served as Markdown", "[gateway][site]")
{
    const auto path = GENERATE(as<std::string>{}, "/docs/api.md", "/docs/operations/install.md");

    const auto response = send("GET", path);

    CHECK(response.status == 200);
    CHECK(*http::find_header(response.headers, "Content-Type") == "text/markdown; charset=utf-8");
    CHECK(*http::find_header(response.headers, "X-Content-Type-Options") == "nosniff");
    CHECK(*http::find_header(response.headers, "Access-Control-Allow-Origin") == "*");
    CHECK(http::find_header(response.headers, "ETag"));
    CHECK(response.body.starts_with("# "));
}

TEST_CASE("llms.txt begins with the name and a summary", "[gateway][site]")
{
    const auto response = send("GET", "/llms.txt");

    CHECK(response.status == 200);
    CHECK(*http::find_header(response.headers, "Content-Type") == "text/plain; charset=utf-8");
    CHECK(response.body.starts_with("# Temporary Inbox Service\n\n> "));
}

TEST_CASE("a contract in YAML has its server at the base path", "[gateway][site]")
{
    const auto path =
        GENERATE(as<std::string>{}, "/docs/openapi.yaml", "/docs/dashboard-openapi.yaml");

    const auto response = send("GET", path, "/some/path");

    CHECK(*http::find_header(response.headers, "Content-Type") == "application/yaml");
    CHECK(response.body.find("\nservers:\n  - url: /some/path\n") != std::string::npos);
    CHECK(send("GET", path).body.find("\nservers:\n  - url: /\n") != std::string::npos);
}

TEST_CASE("no path of the documentation leads out of it", "[gateway][site]")
{
    const auto path =
        GENERATE(as<std::string>{}, "/docs/../README.md", "/docs/%2e%2e/README.md",
                 "/docs/..%2f..%2fetc%2fpasswd", "/docs//api.md", "/docs/operations%2finstall.md",
                 "/docs/api.md/", "/docs/redocly.yaml", "/README.md", "/docs/operations");

    CHECK(send("GET", path).status == 404);
}

TEST_CASE("the documentation is only read", "[gateway][site]")
{
    const auto path = GENERATE(as<std::string>{}, "/openapi.json", "/docs", "/docs/style.css",
                               "/docs/api.md", "/llms.txt");

    CHECK(send("HEAD", path).status == 200);
    const auto refused = send("POST", path);
    CHECK(refused.status == 405);
    CHECK(*http::find_header(refused.headers, "Allow") == "GET, HEAD, OPTIONS");
}
