#pragma once

#include "common/core/errors.hpp"
#include "common/core/network.hpp"
#include "common/http/message.hpp"

#include <vector>

namespace tempinbox::gateway {

// Whether the request was sent by our own page, as the browser says: `Sec-Fetch-Site: same-origin`,
// or, from browsers that do not send it, an Origin that is the host asked for. No page can write
// these headers itself. permission_denied where neither says so.
result<void> check_same_origin(const http::request& received,
                               const std::vector<network>& trusted_proxies);

} // namespace tempinbox::gateway
