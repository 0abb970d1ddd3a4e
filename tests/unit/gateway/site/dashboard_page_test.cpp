#include "gateway/site/dashboard_page.hpp"

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

std::string header(const http::response& answer, std::string_view name)
{
    return std::string(http::find_header(answer.headers, name).value_or(""));
}

const std::string index_html =
    R"(<!doctype html><meta name="base-path" content="/" />)"
    R"(<script src="/dashboard/assets/index-1a2b.js"></script><a href="#id">)";

// What the build of a page leaves behind.
class built_page
{
public:
    built_page()
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
    const built_page built;
    const dashboard_page page(built.folder.file(""));

    for (const auto* path : {"/dashboard", "/dashboard/", "/dashboard/inboxes/0193",
                             "/dashboard/../../etc/passwd", "/dashboard//"}) {
        const auto answer = page.answer(get(path));
        CHECK(answer.status == 200);
        CHECK(answer.body == index_html);
        CHECK(header(answer, "Content-Type") == "text/html; charset=utf-8");
        CHECK(header(answer, "Cache-Control") == "no-cache");
    }
    const auto script = page.answer(get("/dashboard/assets/index-1a2b.js"));
    CHECK(script.body == "script");
    CHECK(header(script, "Content-Type") == "text/javascript; charset=utf-8");
    CHECK(header(script, "Cache-Control") == "public, max-age=31536000, immutable");
    CHECK(page.answer(get("/dashboard/icon.svg")).body == "<svg/>");
    CHECK(page.answer(get("/dashboard/assets/gone-0000.js")).status == 404);
    CHECK(page.answer(get("/dashboard/.vite/manifest.json")).body == index_html);
}

TEST_CASE("a file goes out compressed where the build made it so and the browser takes it",
          "[gateway][site]")
{
    const built_page built;
    const dashboard_page page(built.folder.file(""));
    const std::string path = "/dashboard/assets/index-1a2b.js";

    CHECK(page.answer(get(path, {{"Accept-Encoding", "gzip, deflate, br"}})).body == "brotli");
    CHECK(header(page.answer(get(path, {{"Accept-Encoding", "br;q=1.0"}})), "Content-Encoding") ==
          "br");
    CHECK(page.answer(get(path, {{"Accept-Encoding", "gzip, br;q=0"}})).body == "gzip");
    CHECK(page.answer(get(path, {{"Accept-Encoding", "identity"}})).body == "script");
    CHECK(header(page.answer(get(path)), "Vary") == "Accept-Encoding");
    CHECK(page.answer(get("/dashboard", {{"Accept-Encoding", "br"}})).body == "brotli");
    CHECK(page.answer(get("/dashboard/icon.svg", {{"Accept-Encoding", "br"}})).body == "<svg/>");
}

TEST_CASE("below a base path every address of the page begins with it", "[gateway][site]")
{
    const built_page built;
    const dashboard_page page(built.folder.file(""), "/some/path");

    const auto answer = page.answer(get("/dashboard/inboxes", {{"Accept-Encoding", "br"}}));

    CHECK(answer.body ==
          R"(<!doctype html><meta name="base-path" content="/some/path/" />)"
          R"(<script src="/some/path/dashboard/assets/index-1a2b.js"></script><a href="#id">)");
    CHECK(header(answer, "Content-Encoding").empty());
    CHECK(header(answer, "ETag") !=
          header(dashboard_page(built.folder.file("")).answer(get("/dashboard")), "ETag"));
    CHECK(page.answer(get("/dashboard/assets/index-1a2b.js")).body == "script");
}

TEST_CASE("a browser that has a file already is told so", "[gateway][site]")
{
    const built_page built;
    const dashboard_page page(built.folder.file(""));
    const auto etag = header(page.answer(get("/dashboard")), "ETag");

    const auto answer = page.answer(get("/dashboard", {{"If-None-Match", etag}}));

    CHECK(etag.starts_with("W/\""));
    CHECK(answer.status == 304);
    CHECK(answer.body.empty());
}

TEST_CASE("everything the page answers is protected, whatever it answers", "[gateway][site]")
{
    const built_page built;
    const dashboard_page page(built.folder.file(""));
    const dashboard_page nothing("");
    auto post = get("/dashboard");
    post.method = "POST";

    CHECK(page.answer(post).status == 405);
    for (const auto& answer :
         {page.answer(get("/dashboard")), page.answer(get("/dashboard/assets/none.js")),
          page.answer(post), nothing.answer(get("/dashboard"))}) {
        const auto policy = header(answer, "Content-Security-Policy");
        CHECK(policy.find("default-src 'none'") != std::string::npos);
        CHECK(policy.find("script-src 'self';") != std::string::npos);
        CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
        CHECK(header(answer, "X-Content-Type-Options") == "nosniff");
        CHECK(header(answer, "Referrer-Policy") == "no-referrer");
        CHECK(header(answer, "Cross-Origin-Opener-Policy") == "same-origin");
    }
}

TEST_CASE("without a built page a text says how to build it", "[gateway][site]")
{
    const dashboard_page page("/nowhere/at/all");

    const auto answer = page.answer(get("/dashboard/inboxes"));

    CHECK_FALSE(page.is_built());
    CHECK(answer.status == 503);
    CHECK(answer.body.find("./dev build") != std::string::npos);
}
