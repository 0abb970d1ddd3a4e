#include "common/http/router.hpp"
#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

awaitable<http::response> answer(const char* name)
{
    co_return http::ok_json(name);
}

http::handler answers(const char* name)
{
    return [name](http::request&) { return answer(name); };
}

http::router make_router()
{
    http::router paths;
    paths.add("GET", "/", answers("root"));
    paths.add("GET", "/v1/inboxes", answers("list"));
    paths.add("POST", "/v1/inboxes", answers("create"));
    paths.add("GET", "/v1/inboxes/{inboxId}", answers("get"));
    paths.add("DELETE", "/v1/inboxes/{inboxId}", answers("delete"));
    paths.add("POST", "/v1/inboxes/export", answers("export"));
    paths.add("GET", "/v1/inboxes/{inboxId}/emails/wait", answers("wait"));
    paths.add("GET", "/v1/{kind}/latest", answers("latest"));
    return paths;
}

struct expectation
{
    const char* method;
    const char* path;
    const char* answer; // "404", or "405 " and what is allowed
};

std::string answer_of(const http::router& paths, std::string_view method, std::string_view path)
{
    http::request received;
    received.method = method;
    received.target = path;
    const auto found = paths.find(method, path);
    const auto answer = testing::await(paths.dispatch(received));
    CHECK(received.route == found.pattern);
    if (found.handle)
        return answer.body;
    return std::to_string(answer.status) +
           (answer.status == 404 ? ""
                                 : " " + std::string(*http::find_header(answer.headers, "Allow")));
}

} // namespace

TEST_CASE("a router finds the most specific path and the method on it", "[http]")
{
    const auto paths = make_router();
    const expectation table[] = {
        {"GET", "/", "root"},
        {"GET", "/v1/inboxes", "list"},
        {"POST", "/v1/inboxes", "create"},
        {"HEAD", "/v1/inboxes", "list"},
        {"GET", "/v1/inboxes/0193", "get"},
        {"DELETE", "/v1/inboxes/0193", "delete"},
        {"POST", "/v1/inboxes/export", "export"},
        {"GET", "/v1/inboxes/export", "405 POST, OPTIONS"},
        {"PUT", "/v1/inboxes", "405 GET, HEAD, POST, OPTIONS"},
        {"PATCH", "/v1/inboxes/1", "405 GET, HEAD, DELETE, OPTIONS"},
        {"OPTIONS", "/v1/inboxes", "204 GET, HEAD, POST, OPTIONS"},
        {"get", "/v1/inboxes", "405 GET, HEAD, POST, OPTIONS"},
        {"GET", "/v1/inboxes/1/emails/wait", "wait"},
        {"GET", "/v1/emails/latest", "latest"},
        {"GET", "/v1/inboxes/latest", "get"},
        {"GET", "/v1/inboxes/", "404"},
        {"GET", "/v1//inboxes", "404"},
        {"GET", "//v1/inboxes", "404"},
        {"GET", "/v1/inboxes//emails/wait", "404"},
        {"GET", "/v1", "404"},
        {"GET", "/v2/inboxes", "404"},
        {"GET", "*", "404"},
        {"GET", "", "404"},
        {"GET", "v1/inboxes", "404"},
        {"GET", "/%76%31/inboxes", "list"},
        {"GET", "/v1%2Finboxes", "404"},
    };
    for (const auto& row : table) {
        CAPTURE(row.method, row.path);
        CHECK(answer_of(paths, row.method, row.path) == row.answer);
    }
}

TEST_CASE("path parameters are decoded one by one", "[http]")
{
    const auto paths = make_router();

    const auto found = paths.find("GET", "/v1/inboxes/a%2Fb%20c");

    REQUIRE(found.handle);
    CHECK(found.pattern == "/v1/inboxes/{inboxId}");
    CHECK(found.params == std::vector<std::pair<std::string, std::string>>{{"inboxId", "a/b c"}});
}

TEST_CASE("an unknown path is named in the answer", "[http]")
{
    const auto paths = make_router();
    http::request received;
    received.method = "GET";
    received.target = received.path = "/nowhere";

    const auto answer = testing::await(paths.dispatch(received));

    CHECK(answer.body ==
          R"({"statusCode":404,"error":"Not Found","message":"No such path: \"/nowhere\""})");
}

TEST_CASE("a route without a leading slash is a mistake of the program", "[http]")
{
    http::router paths;

    CHECK_THROWS_AS(paths.add("GET", "v1", answers("x")), std::logic_error);
}

TEST_CASE("a router refuses a target that cannot be decoded", "[http]")
{
    const auto paths = make_router();
    http::request received;
    received.method = "GET";
    received.target = "/v1/inboxes?a=%f";
    received.target_error = "The query is not well-formed";

    CHECK(testing::await(paths.dispatch(received)).status == 400);
}
