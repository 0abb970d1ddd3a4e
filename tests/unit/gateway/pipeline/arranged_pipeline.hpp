#pragma once

#include "accounts/api_key.hpp"
#include "common/json/value.hpp"
#include "common/testing/await.hpp"
#include "gateway/pipeline/pipeline.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tempinbox::gateway {

inline const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");
inline const auto midnight = to_unix_seconds(*parse_iso8601("2026-11-22T00:00:00Z"));
inline const std::string good_key = accounts::make_api_key().reveal();
inline const std::string unknown_key = accounts::make_api_key().reveal();

inline awaitable<http::response> respond_ok(const http::request&, const caller&)
{
    co_return http::ok_json("{}");
}

inline awaitable<http::response> lose_dependency(const http::request&, const caller&)
{
    throw dependency_error("no route to 10.1.2.3");
    co_return http::response();
}

inline awaitable<http::response> break_down(const http::request&, const caller&)
{
    throw std::runtime_error("null pointer in secret place");
    co_return http::response();
}

inline awaitable<http::response> respond_large(const http::request&, const caller&)
{
    co_return http::ok_json("\"" + std::string(200'000, 'x') + "\"");
}

inline std::vector<route> test_routes()
{
    using accounts::scope;
    std::vector<route> all;
    all.emplace_back("GET", "/v1/things", scope::emails_read, body_kind::none, respond_ok);
    all.emplace_back("POST", "/v1/things", scope::emails_write, body_kind::json, respond_ok);
    all.emplace_back("GET", "/v1/open", required_scope::any(), body_kind::none, respond_ok);
    all.emplace_back("GET", "/v1/hooks", scope::webhooks_read, body_kind::none, respond_ok);
    all.emplace_back("PATCH", "/v1/patched", body_kind::merge_patch, respond_ok);
    all.emplace_back("GET", "/v1/large", body_kind::none, respond_large);
    all.emplace_back("POST", "/v1/large", body_kind::json, respond_large);
    all.emplace_back("GET", "/v1/lost", body_kind::none, lose_dependency);
    all.emplace_back("GET", "/v1/broken", body_kind::none, break_down);
    return all;
}

inline accounts::key_owner premium_owner()
{
    accounts::key_owner owner;
    owner.key = key_id::make();
    owner.position = 1;
    owner.account.account = account_id::make();
    owner.account.plan = "premium";
    owner.account.limits.api_access = true;
    owner.account.limits.requests_per_day = 10'000;
    owner.account.limits.api_keys = 5;
    return owner;
}

class arranged_pipeline;
struct scripted_parts
{
    arranged_pipeline& keys;
    arranged_pipeline& uses;
    arranged_pipeline& quota;
    arranged_pipeline& idempotency;
    arranged_pipeline& tags;
};
using pipeline = basic_pipeline<scripted_parts>;

// The pipeline over one account, whose key, plan and quota a test changes; counts the calls to its
// parts, which it stands in for.
class arranged_pipeline
{
public:
    explicit arranged_pipeline(std::vector<route> all = test_routes())
        : clock(noon),
          operations(std::move(all)),
          checked(clock, operations, {*this, *this, *this, *this, *this}, {}, memory)
    {}

    http::response send(http::request received)
    {
        received.peer = boost::asio::ip::make_address("192.0.2.1");
        received.id = "request-1";
        if (received.target.empty())
            received.target = received.path;
        return testing::await(checked.handle(received));
    }

    accounts::key_owner owner = premium_owner();
    bool is_key_store_away = false;
    bool is_key_seen = true; // the good one, before
    bool are_lookups_full = false;
    int keys_looked_up = 0;
    bool is_quota_left = true;
    int quota_taken = 0;
    int uses_noted = 0;
    int idempotent_calls_made = 0;
    bool is_outside_tag = false;
    bool is_created_outside_tag = false;
    manual_clock clock;
    std::vector<route> operations;
    response_budget memory{1'000'000};
    pipeline checked;

    awaitable<result<key_result>> find(std::string digest, lookups allowed)
    {
        if (is_key_store_away)
            throw dependency_error("PostgreSQL is away");
        const bool is_good = digest == accounts::api_key_digest(good_key);
        if (allowed == lookups::seen_good && !(is_good && is_key_seen))
            co_return failure{errc::rate_limited,
                              "Too many requests without a valid API key from this address"};
        ++keys_looked_up;
        if (are_lookups_full)
            co_return too_many_lookups();
        key_result found;
        found.was_looked_up = true;
        if (is_good)
            found.owner = std::make_shared<const accounts::key_owner>(owner);
        co_return found;
    }

    void note(const accounts::key_owner&, time_point) { ++uses_noted; }
    rate_limit_headers last_known(const plans::account_state&)
    {
        return rate_limit_headers(10'000, 1'234, midnight);
    }
    awaitable<quota_decision> take(const plans::account_state&)
    {
        ++quota_taken;
        co_return quota_decision(is_quota_left, false,
                                 rate_limit_headers(10'000, is_quota_left ? 9'999 : 0, midnight));
    }
    awaitable<http::response> handle(http::request& received, caller& who, const route& operation)
    {
        ++idempotent_calls_made;
        auto response = co_await operation.handle(received, who);
        response.set("Location", "/v1/things/1");
        co_return response;
    }
    awaitable<std::optional<http::response>> check(const http::request&, const caller& who)
    {
        if (who.tag() && is_outside_tag)
            co_return http::error_response(404, "Thing 1 does not exist");
        co_return std::nullopt;
    }
    awaitable<std::optional<http::response>> check_created(const http::response& created,
                                                           const caller& who)
    {
        if (who.tag() && is_created_outside_tag && http::find_header(created.headers, "Location"))
            co_return http::error_response(404, "Thing 1 does not exist");
        co_return std::nullopt;
    }
};

// Compiled once, in pipeline_test.cpp.
extern template class basic_pipeline<scripted_parts>;

inline http::request make_request(const std::string& method, const std::string& path,
                                  const std::string& key = good_key)
{
    http::request received;
    received.method = method;
    received.path = path;
    if (!key.empty())
        received.headers.emplace_back("X-API-Key", key);
    return received;
}

inline std::int64_t number(const http::response& response, std::string_view name)
{
    const auto text = http::find_header(response.headers, name);
    return text ? std::stoll(std::string(*text)) : -1;
}

inline std::string message(const http::response& response)
{
    return json::value::parse(response.body).value()["message"].text();
}

} // namespace tempinbox::gateway
