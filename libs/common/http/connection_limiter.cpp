#include "common/http/connection_limiter.hpp"

namespace tempinbox::http {

std::string connection_limiter::reason_to_refuse(const boost::asio::ip::address& peer) const
{
    if (!is_counted(peer))
        return {};
    const auto full = open_.find_full(peer, max_per_prefix_);
    if (!full)
        return {};
    const bool is_wide = full->bits == 56 || full->bits == 48;
    return "Too many connections from this address" +
           (is_wide ? "'s /" + std::to_string(full->bits) : std::string()) + ": " +
           std::to_string(full->max) + " are open";
}

void connection_limiter::enter(const boost::asio::ip::address& peer)
{
    if (is_counted(peer))
        open_.enter(peer);
}

void connection_limiter::leave(const boost::asio::ip::address& peer)
{
    if (is_counted(peer))
        open_.leave(peer);
}

} // namespace tempinbox::http
