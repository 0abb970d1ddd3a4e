#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "common/plans/account_state.hpp"
#include "gateway/quota/rate_limit_fields.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::gateway {

// Who asks: the account as it is known at this moment, its day after this request, and the moment.
struct caller
{
    plans::account_state state;
    rate_limit_headers quota;
    time_point now;
    std::string_view root = "/v1"; // of the paths this caller uses
    // The page of the dashboard: not counted against the day, so that `quota` is what was last
    // heard, and told more of an inbox.
    bool is_dashboard = false;
    std::optional<uuid>
        chosen_id; // for the object this request makes, where a retry must make the same one

    account_id account() const { return state.account; }
    const plans::plan_limits& limits() const { return state.limits_at(now); }
    // Of an object this caller can ask for: `location_of("inboxes", id)`.
    std::string location_of(std::string_view kind, std::string_view id) const
    {
        return std::string(root).append("/").append(kind).append("/").append(id);
    }
    template <class Id>
    Id new_id() const
    {
        return chosen_id ? Id{*chosen_id} : Id::make();
    }
};

// An operation of the API. The request and the caller outlive the awaitable; one that waits long
// may set `on_hang_up`.
using api_handler = std::function<awaitable<http::response>(http::request&, const caller&)>;

} // namespace tempinbox::gateway
