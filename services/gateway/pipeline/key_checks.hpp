#pragma once

#include "accounts/key_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/token_bucket.hpp"
#include "gateway/access/key_cache.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/routes/routes.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tempinbox::gateway {

// What the checks of a request found, also for the operations that it calls in this process.
struct passed_checks
{
    boost::asio::ip::address client;
    rate_limit_headers rate_limit; // of the response
    std::string key_digest;
    std::shared_ptr<const accounts::key_owner> owner; // null until the key was looked up
};

// A request to the API on its way through the checks. The request outlives it.
struct request_context : passed_checks
{
    http::request& request;
    routes::match target;
    caller who;
    bool is_on_plan = false;                        // check_plan let it pass
    std::optional<std::chrono::seconds> burst_wait; // see key_allowance_state

    request_context(http::request& received, routes::match matched, passed_checks passed,
                    time_point now);

    void identify(std::shared_ptr<const accounts::key_owner> key_owner);
};

// How often each address failed in this minute.
struct client_failures
{
    failed_authentication authentication;
    failed_authentication lookups; // of well-formed keys that do not exist
};

// Each key has its plan's rate.
using key_bursts = token_bucket<key_id, time_point>;

// The checks of the API, each over just what it uses, in the order in which they are made. One that
// refuses a request also sets the numbers that its response carries.

// What the path asks before the key: its own check, or else the response to a preflight.
refusal check_entry(const request_context& context, const std::vector<network>& trusted_proxies);
// Reads the key from the header: 401 without a well-formed one. Here and in `find_owner` a failure
// counts against the client's address; once its allowance is used up the 401 is a 429.
refusal read_key(client_failures& failures, request_context& context);
// Whose key it is: 401 for one that is unknown, revoked or expired; 503, or 429 for an address, if
// it cannot be looked up now.
awaitable<refusal> find_owner(key_cache& keys, client_failures& failures, request_context& context);
// 403 if the plan has no API, or not for so many keys.
refusal check_plan(request_context& context);
// 429 past the plan's burst. Such a request does not count against the day: `quota` only gives the
// last known numbers.
refusal check_burst(key_bursts& bursts, quota_client& quota, request_context& context);
// What an operation does beyond one request: later requests of the key wait for it.
void add_to_burst(key_bursts& bursts, const request_context& context, std::size_t count);
// Counts the request against the account's day: 429 if that is used up.
awaitable<refusal> check_quota(quota_client& quota, request_context& context);

} // namespace tempinbox::gateway
