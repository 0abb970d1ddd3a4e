#pragma once

#include "common/core/client_limiter.hpp"
#include "common/core/lru_cache.hpp"
#include "common/core/network.hpp"
#include "common/core/token_bucket.hpp"

#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::smtp {

struct client_limits
{
    std::size_t connections = 8'192;
    std::size_t connections_per_address = 20;
    std::size_t connections_per_large_sender = 200;
    std::vector<network> large_senders;
    // Exempt from all limits by address, from MAILMAX and from the limit of a session's length.
    std::vector<network> exempt;
    int messages_per_minute = 0; // accepted from one address
    int message_burst = 60;
    // In ten minutes. Past it, an address that had no mail accepted in the last day is slowed.
    int unknown_recipients = 30;
};

// Whom the limits by address judge.
struct client_address
{
    client_address(boost::asio::ip::address who, bool announced = false)
        : address(std::move(who)),
          is_announced(announced)
    {}

    boost::asio::ip::address address;
    // A balancer's PROXY header says so. Never exempt: the networks of `exempt` are trusted for
    // what the kernel sees of them.
    bool is_announced = false;
};

// All limits of SMTP by client: counts connections (in a tempinbox::client_limiter), messages and
// unknown recipients by client address: IPv4, or the /64 of IPv6; connections by its /56 and /48
// too. Bounded; on the loop alone. A limit of zero: no bound.
class client_limiter
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    enum class admission { welcome, too_many, too_many_from_address };

    explicit client_limiter(client_limits limits)
        : limits_(std::move(limits)),
          connections_(limits_.connections_per_address),
          messages_(token_rate::per_minute(limits_.messages_per_minute, limits_.message_burst))
    {}

    bool is_exempt(const client_address& who) const
    {
        return !who.is_announced && contains(limits_.exempt, who.address);
    }
    // A `welcome` client is counted until `leave`.
    admission enter(const client_address& who);
    void leave(const client_address& who);
    std::size_t connected() const { return connected_; }
    // More than three quarters of the connections are in use: idle ones time out earlier.
    bool is_busy() const
    {
        return limits_.connections > 0 && connected_ * 4 > limits_.connections * 3;
    }

    bool is_over_rate(const client_address& who, time_point now);
    void note_message(const client_address& who, time_point now);

    void note_unknown_recipient(const client_address& who, time_point now);
    void note_accepted_mail(const client_address& who, time_point now);
    bool is_slowed(const client_address& who, time_point now);

private:
    struct guesses
    {
        time_point window_start;
        int count = 0;
    };

    client_limits limits_;
    std::size_t connected_ = 0;
    tempinbox::client_limiter connections_;
    token_bucket<std::string> messages_;
    lru_cache<std::string, guesses> guesses_{100'000};
    lru_cache<std::string, time_point> accepted_{100'000};
};

} // namespace tempinbox::smtp
