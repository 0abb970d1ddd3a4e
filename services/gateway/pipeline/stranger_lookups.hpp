#pragma once

#include "common/core/errors.hpp"
#include "common/http/message.hpp"
#include "gateway/access/key_cache.hpp"
#include "gateway/quota/failed_authentication.hpp"

namespace tempinbox::gateway {

// Which keys or sessions of a client may be looked up: once too many of its address did not exist,
// only those that this gateway has seen good.
lookups allowed_lookups(failed_authentication& failed_lookups,
                        const boost::asio::ip::address& client, time_point now);

// The response to a key or session that was not looked up: 503 if too many lookups are under way,
// 429 with Retry-After if too many of the address did not exist. `rate_limit`: the lookups that the
// address has left.
http::response refuse_lookup(const failure& reason, const rate_limit_headers& rate_limit,
                             time_point now);

} // namespace tempinbox::gateway
