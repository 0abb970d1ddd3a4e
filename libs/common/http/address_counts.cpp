#include "common/http/address_counts.hpp"

namespace tempinbox::http {

std::string address_counts::reason_to_refuse(const boost::asio::ip::address& peer) const
{
    if (!is_counted(peer))
        return {};
    const auto full = open_.find_full(peer, most_);
    if (!full)
        return {};
    const bool is_wide = full->bits == 56 || full->bits == 48;
    return "Too many connections from this address" +
           (is_wide ? "'s /" + std::to_string(full->bits) : std::string()) + ": " +
           std::to_string(full->max) + " are open";
}

void address_counts::enter(const boost::asio::ip::address& peer)
{
    if (is_counted(peer))
        open_.enter(peer);
}

void address_counts::leave(const boost::asio::ip::address& peer)
{
    if (is_counted(peer))
        open_.leave(peer);
}

} // namespace tempinbox::http
