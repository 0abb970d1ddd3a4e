#pragma once

#include "webhook-dispatcher/storage/event_kind.hpp"

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// A secret that a rotation replaced, sealed like the present one.
struct previous_secret
{
    std::string sealed;
    time_point valid_until;
};

// A registered endpoint as it is stored. Secrets are sealed under the webhook's id.
struct endpoint
{
    account_id account;
    webhook_id id;
    std::string url;
    event_set events = event_set::all();
    std::string description;
    bool is_enabled = true;
    std::optional<std::string> disabled_reason; // absent if the account switched it off itself
    bool is_refused = false; // not stored: the present policy refuses the URL, see the reason
    std::string sealed_secret;
    std::vector<previous_secret> previous_secrets; // last replaced first; some may have expired
    std::optional<uuid> rotation;                  // the last one
    time_point
        renewed_at; // when last made, switched on or given a URL; earlier failures do not count
    time_point created_at;
};

} // namespace tempinbox::webhooks
