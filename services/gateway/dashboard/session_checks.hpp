#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/core/token_bucket.hpp"
#include "gateway/access/session_cookie.hpp"
#include "gateway/access/session_day.hpp"
#include "gateway/access/session_lookups.hpp"
#include "gateway/quota/failed_authentication.hpp"
#include "gateway/routes/routes.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace tempinbox::gateway {

inline constexpr std::string_view dashboard_api_root = "/dashboard/api";
// Of an account, whatever its plan: opening more sessions gives no more requests.
inline constexpr int session_requests_per_second = 50;

// A request to the dashboard's API on its way through the checks, and what they found. The request
// outlives it.
struct dashboard_context
{
    http::request& request;
    boost::asio::ip::address client;
    session_cookie cookie;
    std::optional<secret> token;
    routes::match target;
    caller who;

    dashboard_context(http::request& received, const std::vector<network>& trusted_proxies,
                      time_point now);
};

// The checks of the dashboard's API, each over just what it uses.

// For an operation without a session: 403 for a change that another site's page asks for.
refusal check_origin(const dashboard_context& context, const std::vector<network>& trusted_proxies);

// With a session, in the order in which they are made.

// Reads the session from the cookie: 401 without one.
refusal read_session(dashboard_context& context);
// Whose session it is: 401 for one that does not exist or has ended; 503, or 429 for an address, if
// it cannot be looked up now.
awaitable<refusal> find_account(session_lookups& sessions, failed_authentication& failed_lookups,
                                dashboard_context& context);
// 403 for a change without the session's own token.
refusal check_csrf_token(const dashboard_context& context);
// 429 past `session_requests_per_second`.
refusal check_session_burst(token_bucket<account_id, time_point>& bursts,
                            const dashboard_context& context);
// Counts the request against the day of the account's sessions: 429 if that is used up.
awaitable<refusal> check_session_day(session_day& day, const dashboard_context& context);

} // namespace tempinbox::gateway
