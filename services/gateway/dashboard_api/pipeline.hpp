#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/token_bucket.hpp"
#include "gateway/api/response_budget.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/sessions/session_lookups.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// The functions that the dashboard's pipeline calls.
struct dashboard_sources
{
    // Finds a session by its digest.
    std::function<awaitable<result<session_result>>(std::string digest, lookups allowed)>
        find_session;
    // Counts a request against the day of the account's sessions. If it is not set, sessions have
    // no daily limit.
    std::function<awaitable<quota_decision>(account_id)> take_session_quota;
    std::function<rate_limit_headers(const plans::account_state&)> last_known_quota;
    // Handles a POST that carries an Idempotency-Key and no password. If it is not set, the
    // operation is called directly.
    std::function<awaitable<http::response>(http::request&, caller&, const route&)>
        handle_idempotent;
};

// Handles everything under /dashboard/api. Public operations must come from our own page (403). All
// others need a session and are checked in this order: session 401, CSRF token 403, burst 429, the
// day of the account's sessions 429, then as under /v1. Nothing counts against the day of the API.
// An address that sent too many sessions that do not exist gets 429 until the minute ends, unless
// its session was seen open here before. X-API-Key has no effect here. An operation that throws
// becomes 500, or 503 for a lost dependency; no exception escapes.
class dashboard_pipeline
{
public:
    static constexpr std::string_view root = "/dashboard/api";
    static constexpr int requests_per_second = 50;

    dashboard_pipeline(const clock_source& clock, std::vector<route> open_operations,
                       std::vector<route> operations, dashboard_sources sources,
                       std::vector<network> trusted_proxies, response_budget& memory);

    static bool serves(std::string_view path);
    awaitable<http::response> handle(http::request& received);

private:
    struct request_context;
    using refusal = std::optional<http::response>;

    awaitable<http::response> run(request_context& x);
    awaitable<http::response> run_open(request_context& x);
    awaitable<http::response> call(request_context& x);
    awaitable<refusal> check_session(request_context& x);
    refusal check_csrf_token(request_context& x);
    refusal check_burst(request_context& x);
    awaitable<refusal> check_day(request_context& x);
    static http::response refuse_lookup(const request_context& x, const failure& reason,
                                        const rate_limit_headers& rate_limit);

    const clock_source& clock_;
    routes open_operations_;
    routes operations_;
    dashboard_sources sources_;
    std::vector<network> trusted_proxies_;
    response_budget& memory_;
    token_bucket<account_id, time_point> bursts_{token_rate::per_second(requests_per_second)};
    failed_authentication failed_lookups_; // of sessions that do not exist
};

} // namespace tempinbox::gateway
