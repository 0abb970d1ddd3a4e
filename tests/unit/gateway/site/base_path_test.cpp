#include "gateway/site/base_path.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

http::request make_request(const std::string& target, const std::string& decoded_path)
{
    http::request received;
    received.target = target;
    received.path = decoded_path;
    return received;
}

} // namespace

TEST_CASE("a base path is brought into one form", "[gateway][site]")
{
    CHECK(parse_base_path("").value().empty());
    CHECK(parse_base_path("/").value().empty());
    CHECK(parse_base_path("/mail").value() == "/mail");
    CHECK(parse_base_path("/mail/").value() == "/mail");
    CHECK(parse_base_path("/some/path-1/x_y.z~").value() == "/some/path-1/x_y.z~");
}

TEST_CASE("a base path that others would read otherwise is refused with the reason",
          "[gateway][site]")
{
    const auto [given, reason] = GENERATE(table<std::string, std::string>({
        {"mail", "must begin with a slash"},
        {"https://host/mail", "must begin with a slash"},
        {"//", "must not have //"},
        {"//host/mail", "must not have //"},
        {"/some//path", "must not have //"},
        {"/mail//", "must not have //"},
        {"/some/../path", "must not have . or .."},
        {"/..", "must not have . or .."},
        {"/./mail", "must not have . or .."},
        {"/some/%2e%2e", "may have letters"},
        {"/mail?x=1", "may have letters"},
        {"/mail#x", "may have letters"},
        {"/ma il", "may have letters"},
        {"/mail\r\nX-A: b", "may have letters"},
        {std::string("/mail\0", 6), "may have letters"},
        {"/mail\"><script>", "may have letters"},
        {"/b\xc3\xbc", "may have letters"},
        {"/v1", "must not begin with /v1"},
        {"/dashboard/mail", "must not begin with /dashboard"},
        {"/docs", "must not begin with /docs"},
        {"/llms.txt", "must not begin with /llms.txt"},
        {"/downloads", "must not begin with /downloads"},
        {"/" + std::string(200, 'x'), "must have at most 200 characters"},
    }));
    CAPTURE(given);

    const auto parsed = parse_base_path(given);

    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message.find(reason) != std::string::npos);
    CHECK(parsed.error().message.find('\n') == std::string::npos);
}

TEST_CASE("a base path is taken off where the proxy left it there, and only there",
          "[gateway][site]")
{
    struct row
    {
        std::string target, path, target_after, path_after;
    };
    const auto it = GENERATE(values<row>({
        {"/some/path/v1/inboxes?limit=1", "/some/path/v1/inboxes", "/v1/inboxes?limit=1",
         "/v1/inboxes"},
        {"/some/path", "/some/path", "/", "/"},
        {"/some/path?a=b", "/some/path", "/?a=b", "/"},
        {"/some/path/", "/some/path/", "/", "/"},
        {"/s%6fme/path/v1/a%2Fb", "/some/path/v1/a/b", "/v1/a%2Fb", "/v1/a/b"},
        {"/some/path/v1/%ff", "/some/path/v1/%ff", "/v1/%ff", "/v1/%ff"},
        // Another path, however alike.
        {"/v1/inboxes", "/v1/inboxes", "/v1/inboxes", "/v1/inboxes"},
        {"/some/pathology/v1", "/some/pathology/v1", "/some/pathology/v1", "/some/pathology/v1"},
        {"/some", "/some", "/some", "/some"},
        {"/some%2Fpath/v1", "/some/path/v1", "/some%2Fpath/v1", "/some/path/v1"},
        {"/x/some/path/v1", "/x/some/path/v1", "/x/some/path/v1", "/x/some/path/v1"},
        {"/some/path/some/path/v1", "/some/path/some/path/v1", "/some/path/v1", "/some/path/v1"},
    }));
    CAPTURE(it.target);
    auto received = make_request(it.target, it.path);

    remove_base_path(received, "/some/path");

    CHECK(received.target == it.target_after);
    CHECK(received.path == it.path_after);
}

TEST_CASE("Location leads below the base path", "[gateway][site]")
{
    auto made = http::created_json("{}", "/v1/inboxes/1");
    auto without = http::ok_json("{}");

    add_base_path(made, "/some/path");
    add_base_path(without, "/some/path");

    CHECK(http::find_header(made.headers, "Location") == "/some/path/v1/inboxes/1");
    CHECK_FALSE(http::find_header(without.headers, "Location"));
}
