#include "common/http/address_counts.hpp"

namespace tempinbox::http {

bool address_counts::is_at_limit(const boost::asio::ip::address& peer) const
{
    if (!is_counted(peer))
        return false;
    const auto known = open_.find(subscriber_of(peer));
    return known != open_.end() && known->second >= most_;
}

void address_counts::enter(const boost::asio::ip::address& peer)
{
    if (is_counted(peer))
        ++open_[subscriber_of(peer)];
}

void address_counts::leave(const boost::asio::ip::address& peer)
{
    if (!is_counted(peer))
        return;
    const auto known = open_.find(subscriber_of(peer));
    if (known != open_.end() && --known->second == 0)
        open_.erase(known);
}

} // namespace tempinbox::http
