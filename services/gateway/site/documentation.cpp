#include "gateway/site/documentation.hpp"

#include "gateway/site/static_file.hpp"

#include <memory>
#include <stdexcept>
#include <string>

namespace tempinbox::gateway {
namespace {

constexpr std::string_view page_policy = "default-src 'none'; style-src 'self'; base-uri 'none'; "
                                         "form-action 'none'; frame-ancestors 'none'";

std::string_view content_of(std::string_view name)
{
    for (const auto& file : documentation::files)
        if (file.path.substr(file.path.rfind('/') + 1) == name)
            return file.content;
    throw std::logic_error("the program was built without " + std::string(name));
}

awaitable<http::response> answer_with(http::response answer)
{
    co_return answer;
}

void add_json(http::router& site, std::string_view base_path)
{
    const auto contract =
        std::make_shared<const std::string>(with_server_at(openapi_json(), base_path));
    const static_file json("application/json", *contract);
    site.add("GET", "/openapi.json", [json, contract](http::request& received) {
        auto answer = json.answer(received);
        answer.set("Access-Control-Allow-Origin",
                   "*"); // readers of API descriptions run in browsers, too
        return answer_with(std::move(answer));
    });
}

void add_page(http::router& site)
{
    const static_file page("text/html; charset=utf-8", content_of("docs.html"));
    site.add("GET", "/docs", [page](http::request& received) {
        auto answer = page.answer(received);
        answer.set("Content-Security-Policy", page_policy);
        answer.set("Referrer-Policy", "no-referrer");
        return answer_with(std::move(answer));
    });
    const static_file style("text/css; charset=utf-8", content_of("style.css"));
    site.add("GET", "/docs/style.css",
             [style](http::request& received) { return answer_with(style.answer(received)); });
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
    constexpr std::string_view root = R"("servers":[{"url":"/")";
    const auto at = changed.find(root);
    if (at == std::string::npos)
        throw std::logic_error("the contract has no server at /");
    changed.replace(at + root.size() - 2, 1, base_path);
    return changed;
}

void add_documentation(http::router& site, std::string_view base_path)
{
    add_json(site, base_path);
    add_page(site);
}

} // namespace tempinbox::gateway
