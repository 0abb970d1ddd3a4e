#include "gateway/site/static_file.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using gateway::static_file;

namespace {

http::request get(std::string if_none_match = "")
{
    http::request received;
    received.method = "GET";
    if (!if_none_match.empty())
        received.headers.emplace_back("If-None-Match", std::move(if_none_match));
    return received;
}

} // namespace

TEST_CASE("a static file has its type and a tag of its content", "[gateway][site]")
{
    const static_file file("text/css; charset=utf-8", "a {}");

    const auto response = file.handle(get());

    CHECK(response.status == 200);
    CHECK(response.body == "a {}");
    CHECK(*http::find_header(response.headers, "Content-Type") == "text/css; charset=utf-8");
    CHECK(*http::find_header(response.headers, "ETag") == file.etag());
    CHECK(*http::find_header(response.headers, "Cache-Control") == "no-cache");
    CHECK(file.etag() != static_file("text/css; charset=utf-8", "b {}").etag());
}

TEST_CASE("a client that has the file gets 304 without content", "[gateway][site]")
{
    const static_file file("text/css", "a {}");
    std::string sent = GENERATE(as<std::string>{}, "TAG", "W/TAG", "\"other\", TAG", "*");
    if (const auto at = sent.find("TAG"); at != std::string::npos)
        sent.replace(at, 3, file.etag());

    const auto response = file.handle(get(sent));

    CHECK(response.status == 304);
    CHECK(response.body.empty());
    CHECK(*http::find_header(response.headers, "ETag") == file.etag());
    CHECK_FALSE(http::find_header(response.headers, "Content-Type"));
}

TEST_CASE("another tag gets the whole file", "[gateway][site]")
{
    CHECK(static_file("text/css", "a {}").handle(get("\"other\"")).status == 200);
}
