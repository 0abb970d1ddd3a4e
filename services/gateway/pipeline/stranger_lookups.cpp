#include "gateway/pipeline/stranger_lookups.hpp"

#include "gateway/quota/rate_limit_headers.hpp"

namespace tempinbox::gateway {

lookups allowed_lookups(failed_authentication& failed_lookups,
                        const boost::asio::ip::address& client, time_point now)
{
    return failed_lookups.has_allowance(client, now) ? lookups::all : lookups::seen_good;
}

http::response refuse_lookup(const failure& reason, const rate_limit_headers& rate_limit,
                             time_point now)
{
    if (reason.code == errc::rate_limited)
        return too_many_requests(http::reason_of(reason), reason.message, rate_limit, now);
    return http::error_response(reason);
}

} // namespace tempinbox::gateway
