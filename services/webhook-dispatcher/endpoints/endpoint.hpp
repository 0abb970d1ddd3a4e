#pragma once

#include "webhook-dispatcher/events/kind.hpp"

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <optional>
#include <string>

namespace tempinbox::webhooks {

// A registered endpoint as it is stored. Secrets are sealed under the webhook's id.
struct endpoint
{
    account_id account;
    webhook_id id;
    std::string url;
    event_set events = event_set::all();
    std::string description;
    bool is_enabled = true;
    std::optional<std::string> disabled_reason; // absent where the account switched it off itself
    std::string sealed_secret;
    std::optional<std::string> previous_sealed_secret; // after a rotation, until the moment below
    std::optional<time_point> previous_secret_until;
    time_point created_at;

    endpoint() = default;
};

} // namespace tempinbox::webhooks
