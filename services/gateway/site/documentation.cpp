#include "gateway/site/documentation.hpp"

#include "gateway/site/static_file.hpp"

#include <memory>
#include <stdexcept>
#include <string>

namespace tempinbox::gateway {
namespace {

constexpr std::string_view content_security_policy =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
    "'none'";

constexpr std::string_view file_security_policy =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

std::string_view content_of(std::string_view name)
{
    for (const auto& file : documentation::files)
        if (file.path.substr(file.path.rfind('/') + 1) == name)
            return file.content;
    throw std::logic_error("the program was built without " + std::string(name));
}

awaitable<http::response> respond_with(http::response response)
{
    co_return response;
}

// Readers of API descriptions and of Markdown run in browsers, too.
void allow_every_origin(http::response& response)
{
    response.set("Access-Control-Allow-Origin", "*");
}

void add_json(http::router& site, std::string_view base_path)
{
    const auto contract =
        std::make_shared<const std::string>(with_server_at(openapi_json(), base_path));
    const static_file json("application/json", *contract);
    site.add("GET", "/openapi.json", [json, contract](http::request& received) {
        auto response = json.handle(received);
        allow_every_origin(response);
        return respond_with(std::move(response));
    });
}

void add_page(http::router& site, const char* path, std::string_view file)
{
    const static_file page("text/html; charset=utf-8", content_of(file));
    site.add("GET", path, [page](http::request& received) {
        auto response = page.handle(received);
        response.set("Content-Security-Policy", content_security_policy);
        response.set("Referrer-Policy", "no-referrer");
        return respond_with(std::move(response));
    });
}

void add_events_json(http::router& site)
{
    const static_file json("application/json", content_of("asyncapi.json"));
    site.add("GET", "/docs/events/asyncapi.json", [json](http::request& received) {
        auto response = json.handle(received);
        allow_every_origin(response);
        return respond_with(std::move(response));
    });
}

void add_style(http::router& site)
{
    const static_file style("text/css; charset=utf-8", content_of("style.css"));
    site.add("GET", "/docs/style.css",
             [style](http::request& received) { return respond_with(style.handle(received)); });
}

std::string_view type_of(std::string_view path)
{
    constexpr std::pair<std::string_view, std::string_view> types[] = {
        {".md", "text/markdown; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".txt", "text/plain; charset=utf-8"},
        {".yaml", "application/yaml"}, // RFC 9512
    };
    for (const auto& [ending, type] : types)
        if (path.ends_with(ending))
            return type;
    throw std::logic_error("no type is known for " + std::string(path));
}

void add_tree(http::router& site, std::string_view base_path)
{
    for (const auto& file : docs_tree::files) {
        const bool has_server = file.path.ends_with("openapi.yaml");
        const auto content = std::make_shared<const std::string>(
            has_server ? with_server_at(file.content, base_path) : std::string(file.content));
        const static_file kept(type_of(file.path), *content);
        site.add("GET", "/" + std::string(file.path), [kept, content](http::request& received) {
            auto response = kept.handle(received);
            allow_every_origin(response);
            // A picture opened by its own address is a document of this origin.
            response.set("Content-Security-Policy", file_security_policy);
            return respond_with(std::move(response));
        });
    }
}

} // namespace

std::string_view openapi_json()
{
    return content_of("openapi.json");
}

std::string with_server_at(std::string_view contract, std::string_view base_path)
{
    std::string changed(contract);
    if (base_path.empty())
        return changed;
    for (const std::string_view server : {R"("servers":[{"url":"/)", "\nservers:\n  - url: /"}) {
        const auto at = changed.find(server);
        if (at == std::string::npos)
            continue;
        changed.replace(at + server.size() - 1, 1, base_path);
        return changed;
    }
    throw std::logic_error("the contract has no server at /");
}

void add_documentation(http::router& site, std::string_view base_path)
{
    add_json(site, base_path);
    add_page(site, "/docs", "docs.html");
    add_page(site, "/docs/events", "events.html");
    add_events_json(site);
    add_style(site);
    add_tree(site, base_path);
}

} // namespace tempinbox::gateway
