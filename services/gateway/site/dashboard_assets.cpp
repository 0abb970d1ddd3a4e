#include "gateway/site/dashboard_assets.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"
#include "gateway/pipeline/negotiation.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tempinbox::gateway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view root = "/dashboard";
constexpr std::uintmax_t max_folder_bytes = 32 * 1024 * 1024;

// A frame with `srcdoc` inherits this policy (CSP 3, 4.2.3.2), so styles and pictures are allowed
// here for the mail shown in one, which narrows them by its own policy. Scripts come from the
// gateway's files alone; inline scripts never run.
constexpr std::string_view content_security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: "
    "https:; font-src 'self';"
    " connect-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action "
    "'self'; frame-ancestors 'none'";

constexpr std::string_view not_built =
    "The dashboard's page is not part of this gateway.\n\n"
    "From the source tree, ./dev build makes it (web/dashboard/dist), and ./dev up "
    "serves it. For an installed\n"
    "gateway, put the built files into the folder that the setting dashboard-files names.\n";

std::string_view type_of(std::string_view name)
{
    constexpr std::pair<std::string_view, std::string_view> types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".webp", "image/webp"},
        {".woff2", "font/woff2"},
        {".json", "application/json"},
        {".map", "application/json"},
        {".webmanifest", "application/manifest+json"},
        {".txt", "text/plain; charset=utf-8"},
    };
    for (const auto& [ending, type] : types)
        if (name.ends_with(ending))
            return type;
    return "application/octet-stream";
}

std::string read(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), {}};
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    return content;
}

std::map<std::string, std::string> read_all(const fs::path& folder)
{
    std::map<std::string, std::string> contents;
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const auto name = entry.path().lexically_relative(folder).generic_string();
        // Names with a leading dot are the build's own, such as Vite's manifest.
        if (!entry.is_regular_file() || name.front() == '.' || name.find("/.") != std::string::npos)
            continue;
        bytes += entry.file_size();
        if (bytes > max_folder_bytes)
            throw std::runtime_error(folder.string() +
                                     " holds more than 32 MiB: it is no built page");
        contents.emplace(name, read(entry.path()));
    }
    return contents;
}

std::string take(std::map<std::string, std::string>& contents, const std::string& name)
{
    const auto entry = contents.find(name);
    if (entry == contents.end())
        return {};
    auto content = std::move(entry->second);
    contents.erase(entry);
    return content;
}

// Addresses in attributes get the base path. Addresses in scripts and style sheets are relative, or
// made from one of these.
std::string with_base_path(std::string_view html, std::string_view base_path)
{
    constexpr std::string_view mark = "=\"/";
    std::string moved;
    for (;;) {
        const auto at = html.find(mark);
        if (at == std::string_view::npos)
            return moved.append(html);
        moved.append(html.substr(0, at + 2)).append(base_path).append("/");
        html.remove_prefix(at + mark.size());
    }
}

// RFC 9110 12.5.3, as far as browsers use it: a coding is accepted if it is named and its quality
// is not zero.
bool takes(const std::optional<std::string>& accepted, std::string_view coding)
{
    if (!accepted)
        return false;
    for (const auto& entry : split_list(*accepted)) {
        const auto mark = entry.find(';');
        if (!equals_ignoring_ascii_case(trim(std::string_view(entry).substr(0, mark)), coding))
            continue;
        const auto quality = mark == std::string::npos
                                 ? std::string_view()
                                 : trim(std::string_view(entry).substr(mark + 1));
        return quality != "q=0" && quality != "q=0.0";
    }
    return false;
}

void put_body(http::response& response, const asset& file,
              const std::optional<std::string>& accepted)
{
    if (!file.brotli.empty() && takes(accepted, "br")) {
        response.set("Content-Encoding", "br");
        response.body = file.brotli;
    } else if (!file.gzip.empty() && takes(accepted, "gzip")) {
        response.set("Content-Encoding", "gzip");
        response.body = file.gzip;
    } else {
        response.body = file.content;
    }
}

void put_protection(http::response& response)
{
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    response.set("Cross-Origin-Opener-Policy", "same-origin");
    response.set("Cross-Origin-Resource-Policy", "same-origin");
    response.set("X-Frame-Options", "DENY");
    response.set("Content-Security-Policy", content_security_policy);
}

http::response say_how_to_build()
{
    http::response response(503, "text/plain; charset=utf-8", std::string(not_built));
    response.set("Cache-Control", "no-store");
    return response;
}

http::response send(const asset& file, const http::request& received)
{
    http::response response;
    if (matches_etag(received, file.etag)) {
        response.status = 304;
    } else {
        response.set("Content-Type", file.content_type);
        put_body(response, file, joined_header(received, "Accept-Encoding"));
    }
    // Weak: one tag for all codings of the same content (RFC 9110 8.8.3.3).
    response.set("ETag", "W/" + file.etag);
    response.set("Vary", "Accept-Encoding");
    response.set("Cache-Control",
                 file.has_hash_in_name ? "public, max-age=31536000, immutable" : "no-cache");
    return response;
}

} // namespace

dashboard_assets::dashboard_assets(const std::string& folder, std::string_view base_path)
{
    if (folder.empty() || !fs::is_directory(folder))
        return;
    auto contents = read_all(folder);
    while (!contents.empty()) {
        // A file sorts before its compressed forms.
        const auto name = contents.begin()->first;
        asset file;
        file.content = take(contents, name);
        file.brotli = take(contents, name + ".br");
        file.gzip = take(contents, name + ".gz");
        if (name == "index.html" && !base_path.empty()) {
            file.content = with_base_path(file.content, base_path);
            file.brotli.clear(); // compressed before the change; the file is under a kilobyte
            file.gzip.clear();
        }
        file.content_type = type_of(name);
        file.etag = "\"" + to_hex(crypto::sha256(file.content)).substr(0, 32) + "\"";
        file.has_hash_in_name = name.starts_with("assets/");
        files_.emplace(name, std::move(file));
    }
    index_ = find("index.html");
}

bool dashboard_assets::serves(std::string_view path)
{
    return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

const asset* dashboard_assets::find(std::string_view path) const
{
    const auto entry = files_.find(path);
    return entry == files_.end() ? nullptr : &entry->second;
}

http::response dashboard_assets::handle(const http::request& received) const
{
    http::response response;
    const auto name =
        std::string_view(received.path).substr(std::min(received.path.size(), root.size() + 1));
    const auto* file = find(name);
    if (received.method != "GET" && received.method != "HEAD") {
        response = http::error_response(405, "The dashboard's page can only be read");
        response.set("Allow", "GET, HEAD");
    } else if (!is_built()) {
        response = say_how_to_build();
    } else if (!file && name.starts_with("assets/")) {
        // A page from before an update requests files that are gone; index.html in their place
        // would only confuse it.
        response = http::error_response(404, "No such file");
        response.set("Cache-Control", "no-store");
    } else {
        response = send(file ? *file : *index_, received);
    }
    put_protection(response);
    return response;
}

std::string default_dashboard_folder()
{
    std::error_code unknown;
    const auto program = fs::read_symlink("/proc/self/exe", unknown);
    return unknown ? std::string() : (program.parent_path() / "dashboard").string();
}

} // namespace tempinbox::gateway
