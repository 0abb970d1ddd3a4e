#include "gateway/site/dashboard_assets.hpp"

#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

http::request get(const std::string& path, http::header_list headers = {})
{
    http::request received;
    received.method = "GET";
    received.path = received.target = path;
    received.headers = std::move(headers);
    return received;
}

std::string header(const http::response& response, std::string_view name)
{
    return std::string(http::find_header(response.headers, name).value_or(""));
}

const std::string index_html =
    R"(<!doctype html><meta name="base-path" content="/" />)"
    R"(<script src="/dashboard/assets/index-1a2b.js"></script><a href="#id">)";

// What the build of a page leaves behind.
class built_assets
{
public:
    built_assets()
    {
        std::filesystem::create_directory(folder.file("assets"));
        std::filesystem::create_directory(folder.file(".vite"));
        folder.write(".vite/manifest.json", "{}");
        folder.write("index.html", index_html);
        folder.write("index.html.br", "brotli");
        folder.write("assets/index-1a2b.js", "script");
        folder.write("assets/index-1a2b.js.br", "brotli");
        folder.write("assets/index-1a2b.js.gz", "gzip");
        folder.write("icon.svg", "<svg/>");
    }

    testing::scratch_folder folder;
};

} // namespace

TEST_CASE("the page answers below its root: its files, and itself for each of its own routes",
          "[gateway][site]")
{
    const built_assets built;
    const dashboard_assets assets(built.folder.file(""));

    for (const auto* path : {"/dashboard", "/dashboard/", "/dashboard/inboxes/0193",
                             "/dashboard/../../etc/passwd", "/dashboard//"}) {
        const auto response = assets.handle(get(path));
        CHECK(response.status == 200);
        CHECK(response.body == index_html);
        CHECK(header(response, "Content-Type") == "text/html; charset=utf-8");
        CHECK(header(response, "Cache-Control") == "no-cache");
    }
    const auto script = assets.handle(get("/dashboard/assets/index-1a2b.js"));
    CHECK(script.body == "script");
    CHECK(header(script, "Content-Type") == "text/javascript; charset=utf-8");
    CHECK(header(script, "Cache-Control") == "public, max-age=31536000, immutable");
    CHECK(assets.handle(get("/dashboard/icon.svg")).body == "<svg/>");
    CHECK(assets.handle(get("/dashboard/assets/gone-0000.js")).status == 404);
    CHECK(assets.handle(get("/dashboard/.vite/manifest.json")).body == index_html);
}

TEST_CASE("a file goes out compressed where the build made it so and the browser takes it",
          "[gateway][site]")
{
    const built_assets built;
    const dashboard_assets assets(built.folder.file(""));
    const std::string path = "/dashboard/assets/index-1a2b.js";

    CHECK(assets.handle(get(path, {{"Accept-Encoding", "gzip, deflate, br"}})).body == "brotli");
    CHECK(header(assets.handle(get(path, {{"Accept-Encoding", "br;q=1.0"}})), "Content-Encoding") ==
          "br");
    CHECK(assets.handle(get(path, {{"Accept-Encoding", "gzip, br;q=0"}})).body == "gzip");
    CHECK(assets.handle(get(path, {{"Accept-Encoding", "identity"}})).body == "script");
    CHECK(header(assets.handle(get(path)), "Vary") == "Accept-Encoding");
    CHECK(assets.handle(get("/dashboard", {{"Accept-Encoding", "br"}})).body == "brotli");
    CHECK(assets.handle(get("/dashboard/icon.svg", {{"Accept-Encoding", "br"}})).body == "<svg/>");
}

TEST_CASE("below a base path every address of the page begins with it", "[gateway][site]")
{
    const built_assets built;
    const dashboard_assets assets(built.folder.file(""), "/some/path");

    const auto response = assets.handle(get("/dashboard/inboxes", {{"Accept-Encoding", "br"}}));

    CHECK(response.body ==
          R"(<!doctype html><meta name="base-path" content="/some/path/" />)"
          R"(<script src="/some/path/dashboard/assets/index-1a2b.js"></script><a href="#id">)");
    CHECK(header(response, "Content-Encoding").empty());
    CHECK(header(response, "ETag") !=
          header(dashboard_assets(built.folder.file("")).handle(get("/dashboard")), "ETag"));
    CHECK(assets.handle(get("/dashboard/assets/index-1a2b.js")).body == "script");
}

TEST_CASE("a browser that has a file already is told so", "[gateway][site]")
{
    const built_assets built;
    const dashboard_assets assets(built.folder.file(""));
    const auto etag = header(assets.handle(get("/dashboard")), "ETag");

    const auto response = assets.handle(get("/dashboard", {{"If-None-Match", etag}}));

    CHECK(etag.starts_with("W/\""));
    CHECK(response.status == 304);
    CHECK(response.body.empty());
}

TEST_CASE("everything the page answers is protected, whatever it answers", "[gateway][site]")
{
    const built_assets built;
    const dashboard_assets assets(built.folder.file(""));
    const dashboard_assets nothing("");
    auto post = get("/dashboard");
    post.method = "POST";

    CHECK(assets.handle(post).status == 405);
    for (const auto& response :
         {assets.handle(get("/dashboard")), assets.handle(get("/dashboard/assets/none.js")),
          assets.handle(post), nothing.handle(get("/dashboard"))}) {
        const auto policy = header(response, "Content-Security-Policy");
        CHECK(policy.find("default-src 'none'") != std::string::npos);
        CHECK(policy.find("script-src 'self';") != std::string::npos);
        CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
        CHECK(header(response, "X-Content-Type-Options") == "nosniff");
        CHECK(header(response, "Referrer-Policy") == "no-referrer");
        CHECK(header(response, "Cross-Origin-Opener-Policy") == "same-origin");
    }
}

TEST_CASE("without a built page a text says how to build it", "[gateway][site]")
{
    const dashboard_assets assets("/nowhere/at/all");

    const auto response = assets.handle(get("/dashboard/inboxes"));

    CHECK_FALSE(assets.is_built());
    CHECK(response.status == 503);
    CHECK(response.body.find("./dev build") != std::string::npos);
}
