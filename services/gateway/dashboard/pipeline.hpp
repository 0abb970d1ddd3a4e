#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/dashboard/session_checks.hpp"
#include "gateway/idempotency/idempotent_calls.hpp"
#include "gateway/pipeline/response_budget.hpp"

#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// What the dashboard's pipeline works with; outlives it.
struct dashboard_parts
{
    session_lookups& sessions;
    session_day& day;
    quota_client& quota;
    idempotent_calls& idempotency;
    inbox_client& inboxes;
    response_budget& response_memory;
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
    dashboard_pipeline(const clock_source& clock, std::vector<route> open_operations,
                       std::vector<route> operations, const dashboard_parts& parts,
                       std::vector<network> trusted_proxies);
    dashboard_pipeline(const dashboard_pipeline&) = delete;

    static bool serves(std::string_view path);
    // The response to a request that its header alone decides: a page of another site where no
    // session is needed, else no session. Asked before `handle`, which would answer the same, so
    // that a stranger's body is not read.
    refusal judge_header(http::request& received) const;
    awaitable<http::response> handle(http::request& received);

private:
    awaitable<http::response> run(dashboard_context& context);
    awaitable<http::response> run_open(dashboard_context& context);
    awaitable<http::response> call(dashboard_context& context);
    awaitable<refusal> check_session(dashboard_context& context);
    static void complete(http::response& response);

    const clock_source& clock_;
    routes open_operations_;
    routes operations_;
    dashboard_parts parts_;
    std::vector<network> trusted_proxies_;
    token_bucket<account_id, time_point> bursts_;
    failed_authentication failed_lookups_; // of sessions that do not exist
};

} // namespace tempinbox::gateway
