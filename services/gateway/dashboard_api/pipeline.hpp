#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "gateway/api/answer_memory.hpp"
#include "gateway/api/routes.hpp"
#include "gateway/quota/burst_limit.hpp"
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
    std::function<awaitable<result<session_answer>>(std::string digest, lookups allowed)>
        find_session;
    // Counts a request against the day of the account's sessions; without it they have no daily
    // limit.
    std::function<awaitable<quota_decision>(account_id)> take_session_quota;
    std::function<quota_numbers(const plans::account_state&)> last_known_quota;
    // Answers a POST that carries an Idempotency-Key and no password; without it the operation is
    // called as it is.
    std::function<awaitable<http::response>(http::request&, caller&, const route&)> answer_once;
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
                       std::vector<network> trusted_proxies, answer_memory& memory);

    static bool serves(std::string_view path);
    awaitable<http::response> answer(http::request& received);

private:
    struct exchange;
    using refusal = std::optional<http::response>;

    awaitable<http::response> run(exchange& x);
    awaitable<http::response> run_open(exchange& x);
    awaitable<http::response> call(exchange& x);
    awaitable<refusal> check_session(exchange& x);
    refusal check_csrf_token(exchange& x);
    refusal check_burst(exchange& x);
    awaitable<refusal> check_day(exchange& x);
    static http::response refuse_lookup(const exchange& x, const failure& reason,
                                        const quota_numbers& numbers);

    const clock_source& clock_;
    const routes& open_operations_;
    const routes& operations_;
    dashboard_sources sources_;
    std::vector<network> trusted_proxies_;
    answer_memory& memory_;
    burst_limit bursts_;
    failed_authentication failed_lookups_; // of sessions that do not exist
};

} // namespace tempinbox::gateway
