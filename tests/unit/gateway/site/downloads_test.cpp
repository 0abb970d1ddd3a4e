#include "gateway/site/downloads.hpp"

#include "common/core/version.hpp"
#include "common/json/value.hpp"
#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

// The digest of one `x`.
const std::string digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
const std::string npm_name = "tempinbox-" + std::string(version()) + ".tgz";
const std::string chart_name = "tempinbox-chart-" + std::string(version()) + ".tgz";
const std::string wheel_name = "temporary_inbox-" + std::string(version()) + "-py3-none-any.whl";

class offered_files
{
public:
    offered_files()
    {
        folder.write(npm_name, "x");
        folder.write(chart_name, std::string(small_response + 1, 'c'));
        folder.write(wheel_name, "wheel");
        folder.write(".hidden", "no");
        folder.write("a b", "no");
        std::filesystem::create_directory(folder.file("sub"));
        folder.write("sub/file.tgz", "no");
        add_downloads(site, read_downloads(folder.file("")), memory);
    }

    http::response get(const std::string& path, http::header_list headers = {},
                       const std::string& method = "GET")
    {
        http::request received;
        received.method = method;
        received.target = received.path = path;
        received.headers = std::move(headers);
        return testing::await(site.dispatch(received));
    }

    testing::scratch_folder folder;
    response_budget memory{4 * (small_response + 1)};
    http::router site;
};

std::string header(const http::response& response, std::string_view name)
{
    return std::string(http::find_header(response.headers, name).value_or(""));
}

} // namespace

TEST_CASE("a client is served by its name, and by its name without the version", "[gateway][site]")
{
    offered_files offered;

    for (const auto& path : {"/downloads/" + npm_name, std::string("/downloads/tempinbox.tgz")}) {
        const auto response = offered.get(path);
        CHECK(response.status == 200);
        CHECK(response.body == "x");
        CHECK(header(response, "Content-Type") == "application/octet-stream");
        CHECK(header(response, "Content-Disposition").find(npm_name) != std::string::npos);
        CHECK(offered.get(path, {{"If-None-Match", header(response, "ETag")}}).status == 304);
    }
    CHECK(offered.get("/downloads/" + wheel_name).body == "wheel");
    CHECK(offered.get("/downloads/temporary_inbox-py3-none-any.whl").status == 404);
    CHECK(offered.get("/downloads/" + wheel_name, {}, "POST").status == 405);
}

TEST_CASE("nothing else of the folder is served", "[gateway][site]")
{
    offered_files offered;

    for (const auto* path : {"/downloads/.hidden", "/downloads/a%20b", "/downloads/sub/file.tgz",
                             "/downloads/sub", "/downloads/../secret", "/downloads/nothing"})
        CHECK(offered.get(path).status == 404);
}

TEST_CASE("the list has each file with its digest, for machines and for people", "[gateway][site]")
{
    offered_files offered;

    const auto json = offered.get("/downloads/index.json");
    const auto parsed = json::value::parse(json.body);
    REQUIRE(parsed);
    CHECK((*parsed)["version"].text() == version());
    const auto files = (*parsed)["files"];
    CHECK(files[0]["name"].text() == npm_name);
    CHECK(files[0]["kind"].text() == "npm");
    CHECK(files[0]["sha256"].text() == digest);
    CHECK(files[1]["kind"].text() == "chart");
    CHECK(files[2]["kind"].text() == "python");
    CHECK(offered.get("/downloads/", {{"Accept", "application/json"}}).body == json.body);

    const auto page = offered.get("/downloads/", {{"Accept", "text/html,*/*;q=0.8"}});
    CHECK(header(page, "Content-Type") == "text/html; charset=utf-8");
    CHECK(page.body.find(digest) != std::string::npos);
    CHECK(page.body.find("<script") == std::string::npos);
    CHECK(header(offered.get("/downloads"), "Location") == "/downloads/");
}

TEST_CASE("large downloads of strangers share what one account gets of memory", "[gateway][site]")
{
    offered_files offered;

    const auto first = offered.get("/downloads/" + chart_name);
    CHECK(first.status == 200);
    CHECK(offered.get("/downloads/" + chart_name).status == 503);
    CHECK(offered.get("/downloads/" + npm_name).status == 200);
    CHECK(offered.memory.try_reserve(account_id::make(), small_response));
}

TEST_CASE("without files there is no page", "[gateway][site]")
{
    CHECK(read_downloads("/nowhere").empty());
    CHECK(read_downloads("").empty());

    response_budget memory{1};
    http::router site;
    add_downloads(site, {}, memory);
    http::request received;
    received.method = "GET";
    received.target = received.path = "/downloads/";
    CHECK(testing::await(site.dispatch(received)).status == 404);
}
