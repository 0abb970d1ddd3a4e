#pragma once

#include "webhook-dispatcher/endpoints/address_policy.hpp"
#include "webhook-dispatcher/endpoints/endpoint.hpp"

#include <string>
#include <string_view>

namespace tempinbox::webhooks {

// Which URLs may be registered. What this lets through is still judged by address before each
// connection.
struct url_policy
{
    address_policy addresses;
    bool allows_http = false;
};

// What a checked URL leads to.
struct url_target
{
    std::string host; // lower case, without brackets
    bool is_literal = false;
};

// Failures name the field: `url must begin with https://, not "ftp://x"`.
result<url_target> check_url(std::string_view url, const url_policy& policy);

// The endpoint as it is under the policy of today, which may be stricter than when its URL was
// taken: refused, it is switched off and says why, and is on again when the policy allows it.
// Schemes and ports are judged; addresses are judged at each connection.
endpoint apply_url_policy(endpoint stored, const url_policy& policy);

} // namespace tempinbox::webhooks
