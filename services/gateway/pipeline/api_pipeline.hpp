#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/access/key_uses.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/idempotency/idempotent_calls.hpp"
#include "gateway/pipeline/key_checks.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/pipeline/tag_check.hpp"

#include <string_view>
#include <vector>

namespace tempinbox::gateway {

// What the API's pipeline works with; outlives it.
struct api_parts
{
    key_cache& keys;
    key_uses& uses;
    quota_client& quota;
    idempotent_calls& idempotency;
    tag_check& tags;
    inbox_client& inboxes;
    response_budget& response_memory;
};

// Handles everything under /v1 and the operations beside it (/mcp), with its checks in this order:
// preflight, key 401, plan 403, burst 429, daily limit 429, path 404, method 405, scope 403, size
// 413, type 415, object outside the key's tag 404, then the operation (syntax and fields 400,
// object 404, conflicts; last the 422 of an Idempotency-Key). A path with an entry check has this
// one in place of the preflight. Every response carries X-RateLimit-*. A large response to a GET is
// counted in memory until it is sent; if there is no memory, the response is 503. An operation that
// throws becomes 500, or 503 for a lost dependency; no exception escapes.
class api_pipeline
{
public:
    api_pipeline(const clock_source& clock, std::vector<route> operations, const api_parts& parts,
                 std::vector<network> trusted_proxies);
    api_pipeline(const api_pipeline&) = delete;

    bool serves(std::string_view path) const;
    // The response to a request that its header alone decides: the first two checks, up to a key
    // that is missing or ill-formed. Asked before `handle`, which would answer the same, so that a
    // stranger's body is not read.
    refusal judge_header(http::request& received);
    awaitable<http::response> handle(http::request& received);

private:
    request_context begin(http::request& received);
    awaitable<http::response> run(request_context& context);
    awaitable<http::response> perform(request_context& context);
    awaitable<http::response> perform_for(passed_checks passed, http::request& inner);
    awaitable<http::response> call(request_context& context);
    awaitable<bool> is_still_good(passed_checks passed);
    awaitable<refusal> check_again(request_context& context);
    static void complete(http::response& response, const request_context& context);

    const clock_source& clock_;
    routes operations_;
    api_parts parts_;
    std::vector<network> trusted_proxies_;
    client_failures failures_;
    key_bursts bursts_;
};

} // namespace tempinbox::gateway
