#pragma once

#include "webhook-dispatcher/endpoints/address_policy.hpp"
#include "webhook-dispatcher/storage/endpoint.hpp"

#include <string>
#include <string_view>

namespace tempinbox::webhooks {

// Which URLs may be registered. Addresses are checked again before each connection.
struct url_policy
{
    address_policy addresses;
    bool allows_http = false;
};

// What a checked URL points to.
struct url_target
{
    std::string host; // lower case, without brackets
    bool is_literal = false;
};

// Failures name the field: `url must begin with https://, not "ftp://x"`.
result<url_target> check_url(std::string_view url, const url_policy& policy);

// The endpoint under the present policy, which may be stricter than when its URL was accepted. If
// the policy refuses the URL, the endpoint is switched off and says why; it is on again once the
// policy allows it. Checks scheme and port; addresses are checked at each connection.
endpoint apply_url_policy(endpoint stored, const url_policy& policy);

} // namespace tempinbox::webhooks
