#pragma once

#include "accounts/key_access.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "common/plans/account_state.hpp"
#include "gateway/quota/rate_limit_fields.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::gateway {

// Calls another operation of the API in this process, as the key that this request came with and
// with all checks but those that this request has passed: key, plan, burst and day. The request
// called with outlives the awaitable; the call itself may be made after this request was answered,
// by the pieces of its response. Answers every failure; throws nothing.
using operation_call = std::function<awaitable<http::response>(http::request&)>;

// Who calls: the account as known at this moment, its day after this request, and the moment.
struct caller
{
    plans::account_state state;
    rate_limit_headers quota;
    time_point now;
    std::string_view root = "/v1"; // of the paths this caller uses
    // The dashboard's page. Its requests do not count against the day, so `quota` is the last known
    // value; and it gets more fields of an inbox.
    bool is_dashboard = false;
    // What the API key may do; a session may do everything.
    accounts::key_access access;
    // The API key whose Idempotency-Keys are its own; otherwise they are the account's.
    std::optional<key_id> owner_of_responses;
    // The id of the object that this request creates, set when a retry must create the same one.
    std::optional<uuid> chosen_id;
    // Counts as so many further requests of the key in this second, which later ones wait for.
    // Empty for a session.
    std::function<void(std::size_t)> add_to_burst;
    // Whether the key would be let in at this moment. Set for operations whose response may last
    // (route::lasts); throws when that cannot be looked up.
    std::function<awaitable<bool>()> is_still_good;
    // Set for operations that are made of others (route::calls_others).
    operation_call call;

    account_id account() const { return state.account; }
    // Of the inboxes that exist for the caller; absent: all of the account.
    const std::optional<std::string>& tag() const { return access.tag; }
    bool may(accounts::scope asked) const { return access.allowed().has(asked); }
    const plans::plan_limits& limits() const { return state.limits_at(now); }
    // The path of an object below this caller's root: `location_of("inboxes", id)`.
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

// An operation of the API. The request and the caller outlive the awaitable. An operation that
// waits long may set `on_hang_up`.
using api_handler = std::function<awaitable<http::response>(http::request&, const caller&)>;

} // namespace tempinbox::gateway
