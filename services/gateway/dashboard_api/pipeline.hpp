#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "gateway/api/response_budget.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/quota/burst_limiter.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/sessions/session_lookups.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// What the dashboard's pipeline asks others for.
struct dashboard_sources
{
    // By the digest of the session.
    std::function<awaitable<result<session_result>>(std::string digest, lookups allowed)>
        find_session;
    // Counts a request against the day of the account's sessions; without it they have no daily
    // limit.
    std::function<awaitable<quota_decision>(account_id)> take_session_quota;
    std::function<rate_limit_headers(const plans::account_state&)> last_known_quota;
    // Answers a POST that carries an Idempotency-Key and no password; without it the operation is
    // called as it is.
    std::function<awaitable<http::response>(http::request&, caller&, const route&)>
        handle_idempotent;
};

// Everything under /dashboard/api. Public operations must come from our own page (403). All others
// need a session, in this order: session 401, CSRF token 403, burst 429, the day of the account's
// sessions 429, then as under /v1. Nothing is counted against the day of the API. An address that
// sent too many sessions that do not exist is 429 until the minute ends, unless its session was
// seen here before. X-API-Key means nothing here. An operation that throws is answered 500, 503 for
// a lost dependency; nothing escapes.
class dashboard_pipeline
{
public:
    static constexpr std::string_view root = "/dashboard/api";
    static constexpr int requests_per_second = 50;

    dashboard_pipeline(const clock_source& clock, const routes& open_operations,
                       const routes& operations, dashboard_sources sources,
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
    const routes& open_operations_;
    const routes& operations_;
    dashboard_sources sources_;
    std::vector<network> trusted_proxies_;
    response_budget& memory_;
    burst_limiter bursts_;
    failed_authentication failed_lookups_; // of sessions that do not exist
};

} // namespace tempinbox::gateway
