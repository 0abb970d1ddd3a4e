#pragma once

#include "common/json/value.hpp"
#include "gateway/routes/routes.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tempinbox::testing {

// Operations for the checks before them, requests to these, and what responses say.

inline awaitable<http::response> respond_ok(const http::request&, const gateway::caller&)
{
    co_return http::ok_json("{}");
}

inline awaitable<http::response> respond_large(const http::request&, const gateway::caller&)
{
    co_return http::ok_json("\"" + std::string(200'000, 'x') + "\"");
}

inline awaitable<http::response> lose_dependency(const http::request&, const gateway::caller&)
{
    throw dependency_error("no route to 10.1.2.3");
    co_return http::response();
}

inline awaitable<http::response> break_down(const http::request&, const gateway::caller&)
{
    throw std::runtime_error("null pointer in secret place");
    co_return http::response();
}

inline awaitable<http::response> create_inbox(const http::request&, const gateway::caller& who)
{
    const auto id = who.new_id<inbox_id>().text();
    co_return http::created_json("{\"inboxId\":\"" + id + "\"}", who.location_of("inboxes", id));
}

inline gateway::refusal refuse_pages(const http::request& received, const std::vector<network>&)
{
    if (received.header("Origin"))
        return http::error_response(403, "This is for programs");
    return std::nullopt;
}

// One for programs only, which may have their key in either header, among others for everyone.
inline std::vector<gateway::route> test_operations()
{
    using accounts::scope;
    using gateway::body_kind;
    using gateway::required_scope;
    std::vector<gateway::route> all;
    all.emplace_back("GET", "/v1/things", scope::emails_read, body_kind::none, respond_ok);
    all.emplace_back("POST", "/v1/things", scope::emails_write, body_kind::json, respond_ok);
    all.emplace_back("POST", "/v1/inboxes", scope::inboxes_write, body_kind::json, create_inbox);
    all.emplace_back("GET", "/v1/inboxes/{inboxId}", scope::inboxes_read, body_kind::none,
                     respond_ok);
    all.emplace_back("POST", "/v1/inboxes/{inboxId}/things", scope::inboxes_write, body_kind::json,
                     respond_ok);
    all.emplace_back("GET", "/v1/open", required_scope::any(), body_kind::none, respond_ok);
    all.emplace_back("GET", "/v1/hooks", scope::webhooks_read, body_kind::none, respond_ok);
    all.emplace_back("PATCH", "/v1/patched", body_kind::merge_patch, respond_ok);
    all.emplace_back("GET", "/v1/large", body_kind::none, respond_large);
    all.emplace_back("POST", "/v1/large", body_kind::json, respond_large);
    all.emplace_back("GET", "/v1/lost", body_kind::none, lose_dependency);
    all.emplace_back("GET", "/v1/broken", body_kind::none, break_down);
    all.emplace_back("POST", "/programs", required_scope::any(), body_kind::json, respond_ok);
    all.back().entry = refuse_pages;
    return all;
}

inline http::request make_request(const std::string& method, const std::string& path,
                                  const std::string& key = "", http::header_list headers = {})
{
    http::request received;
    received.method = method;
    received.target = received.path = path;
    received.peer = boost::asio::ip::make_address("192.0.2.1");
    received.id = "request-1";
    received.headers = std::move(headers);
    if (!key.empty())
        received.headers.emplace_back("X-API-Key", key);
    return received;
}

inline std::string header(const http::response& response, std::string_view name)
{
    return std::string(http::find_header(response.headers, name).value_or(""));
}

// -1 where the header is absent.
inline std::int64_t number(const http::response& response, std::string_view name)
{
    const auto text = http::find_header(response.headers, name);
    return text ? std::stoll(std::string(*text)) : -1;
}

inline std::string message(const http::response& response)
{
    return json::value::parse(response.body).value()["message"].text();
}

} // namespace tempinbox::testing
