#pragma once

#include "common/core/errors.hpp"
#include "common/core/network.hpp"
#include "common/http/message.hpp"

#include <vector>

namespace tempinbox::gateway {

// Whether our own page sent the request, as the browser reports it: `Sec-Fetch-Site: same-origin`,
// or, from browsers that do not send it, an Origin equal to the requested host. No page can set
// these headers itself. permission_denied if neither says so.
result<void> check_same_origin(const http::request& received,
                               const std::vector<network>& trusted_proxies);

} // namespace tempinbox::gateway
