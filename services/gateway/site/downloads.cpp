#include "gateway/site/downloads.hpp"

#include "common/core/ascii.hpp"
#include "common/core/encoding.hpp"
#include "common/core/version.hpp"
#include "common/crypto/digest.hpp"
#include "common/json/writer.hpp"
#include "gateway/pipeline/negotiation.hpp"
#include "gateway/site/static_file.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace tempinbox::gateway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view root = "/downloads/";
constexpr std::uintmax_t max_folder_bytes = 32 * 1024 * 1024;
constexpr std::string_view security_policy =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
    "'none'";

using download_list = std::shared_ptr<const std::vector<download>>;

// Names stand in paths and in HTML as they are.
bool is_plain(std::string_view name)
{
    return !name.empty() && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return is_letter_or_digit(c) ||
                      std::string_view(".-_+").find(c) != std::string_view::npos;
           });
}

std::string read(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), {}};
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    return content;
}

// Nothing for a wheel: pip reads the version from its name.
std::string without_version(std::string name)
{
    if (name.ends_with(".whl"))
        return {};
    const auto mark = "-" + std::string(version());
    const auto at = name.find(mark);
    return at == std::string::npos ? std::string() : name.erase(at, mark.size());
}

std::string_view kind_of(std::string_view name)
{
    if (name.ends_with(".whl"))
        return "python";
    if (!name.ends_with(".tgz"))
        return "file";
    return name.starts_with("tempinbox-chart-") ? "chart" : "npm";
}

// What installs the file, with the address of the gateway in a variable.
std::string command_for(const download& file)
{
    const auto address = "\"$TEMPINBOX_BASE_URL" + std::string(root) + file.name + "\"";
    if (file.kind == "npm")
        return "npm install --save-dev " + address;
    if (file.kind == "python")
        return "pip install " + address;
    if (file.kind == "chart")
        return "helm show values " + address;
    return "curl -fsSO " + address;
}

std::string as_json(const std::vector<download>& files)
{
    json::writer out;
    out.begin_object().member("version", version());
    out.key("files").begin_array();
    for (const auto& file : files) {
        out.begin_object();
        out.member("name", file.name).member("kind", file.kind);
        out.member("size", file.content.size()).member("sha256", file.sha256);
        out.end_object();
    }
    out.end_array().end_object();
    return out.take();
}

std::string as_html(const std::vector<download>& files)
{
    std::string page =
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Downloads</title>\n<link rel=\"stylesheet\" href=\"../docs/style.css\">\n"
        "<main>\n<h1>Downloads</h1>\n<p>Clients of this gateway's own version, ";
    page.append(version()).append(
        ". Programs read the same list as <a href=\"index.json\">JSON</a>.</p>\n"
        "<p>The commands take the gateway's address from a variable: "
        "<code>export TEMPINBOX_BASE_URL=https://…</code></p>\n");
    for (const auto& file : files) {
        page.append("<h2><a href=\"" + file.name + "\">" + file.name + "</a></h2>\n");
        page.append("<pre><code>" + command_for(file) + "</code></pre>\n");
        page.append("<p>" + std::to_string(file.content.size()) + " bytes, SHA-256 <code>" +
                    file.sha256 + "</code></p>\n");
    }
    return page.append("</main>\n</html>\n");
}

awaitable<http::response> respond_with(http::response response)
{
    co_return response;
}

void add_file(http::router& site, const std::string& path, const download_list& files,
              const download& file, response_budget& memory)
{
    const static_file content("application/octet-stream", file.content);
    site.add("GET", path, [content, files, &file, &memory](http::request& received) {
        auto response = content.handle(received);
        response.set("Content-Disposition", attachment_disposition(file.name));
        return respond_with(reserve_response(std::move(response), account_id(), memory));
    });
}

void add_json(http::router& site, const download_list& files)
{
    const auto text = std::make_shared<const std::string>(as_json(*files));
    const static_file json("application/json", *text);
    site.add("GET", std::string(root) + "index.json", [json, text](http::request& received) {
        auto response = json.handle(received);
        response.set("Access-Control-Allow-Origin", "*");
        return respond_with(std::move(response));
    });
}

void add_page(http::router& site, const download_list& files)
{
    const auto html = std::make_shared<const std::string>(as_html(*files));
    const auto json = std::make_shared<const std::string>(as_json(*files));
    const static_file for_people("text/html; charset=utf-8", *html);
    const static_file for_machines("application/json", *json);
    site.add("GET", root, [for_people, for_machines, html, json](http::request& received) {
        const auto preferred =
            choose_media_type(joined_header(received, "Accept"), {"text/html", "application/json"});
        auto response = (preferred == 1U ? for_machines : for_people).handle(received);
        response.set("Vary", "Accept");
        response.set("Content-Security-Policy", security_policy);
        response.set("Referrer-Policy", "no-referrer");
        return respond_with(std::move(response));
    });
}

} // namespace

std::vector<download> read_downloads(const std::string& folder)
{
    std::vector<download> files;
    if (folder.empty() || !fs::is_directory(folder))
        return files;
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        auto name = entry.path().filename().string();
        if (!entry.is_regular_file() || !is_plain(name))
            continue;
        bytes += entry.file_size();
        if (bytes > max_folder_bytes)
            throw std::runtime_error(folder +
                                     " holds more than 32 MiB: it is no folder of clients");
        download file;
        file.alias = without_version(name);
        file.content = read(entry.path());
        file.sha256 = to_hex(crypto::sha256(file.content));
        file.kind = kind_of(name);
        file.name = std::move(name);
        files.push_back(std::move(file));
    }
    std::sort(files.begin(), files.end(),
              [](const download& a, const download& b) { return a.name < b.name; });
    return files;
}

std::string default_download_folder()
{
    std::error_code unknown;
    const auto program = fs::read_symlink("/proc/self/exe", unknown);
    return unknown ? std::string() : (program.parent_path() / "downloads").string();
}

void add_downloads(http::router& site, std::vector<download> files, response_budget& memory)
{
    if (files.empty())
        return;
    const auto all = std::make_shared<const std::vector<download>>(std::move(files));
    add_page(site, all);
    add_json(site, all);
    site.add("GET", "/downloads", [](http::request&) {
        http::response moved(308, "text/plain; charset=utf-8", "The page is at /downloads/.\n");
        moved.set("Location", root);
        return respond_with(std::move(moved));
    });
    for (const auto& file : *all) {
        add_file(site, std::string(root) + file.name, all, file, memory);
        if (!file.alias.empty())
            add_file(site, std::string(root) + file.alias, all, file, memory);
    }
}

} // namespace tempinbox::gateway
