#pragma once

#include "common/core/lru_cache.hpp"

#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <string>

namespace tempinbox::mail_ingest {

// Slows down whoever guesses logins: counts failures in 10 minutes by client address (IPv4, or the
// /64 of IPv6) and by user. Nobody is locked out: an address that logged in with the very login in
// the last 24 hours never waits, and for a user only failures do, so that nobody can keep the owner
// of a login out by failing in its name. Bounded; on the loop alone.
class login_failures
{
public:
    using time_point = std::chrono::steady_clock::time_point;
    using address = boost::asio::ip::address;

    static constexpr std::chrono::minutes window{10};
    static constexpr std::chrono::hours good_for{24}; // how long a good login is remembered
    // Of one address: every reply waits, or its logins are not looked at.
    static constexpr int address_before_delay = 10;
    static constexpr int address_before_refusal = 100;
    static constexpr int user_before_delay = 20; // of one user, from all addresses
    static constexpr std::chrono::milliseconds address_delay{2'000};
    static constexpr std::chrono::milliseconds user_delay{5'000};

    // Whether the address failed so often that a login with this user is not looked at.
    bool is_refused(const address& client, const std::string& user, time_point now);
    // Both return how long the reply waits. An empty user, which no login has, is not counted.
    std::chrono::milliseconds note_failure(const address& client, const std::string& user,
                                           time_point now);
    std::chrono::milliseconds note_success(const address& client, const std::string& user,
                                           time_point now);

private:
    struct count
    {
        time_point window_start;
        int failures = 0;
    };
    using counts = lru_cache<std::string, count>;

    static int current(counts& all, const std::string& key, time_point now);
    static int add(counts& all, const std::string& key, time_point now);
    bool was_good(const address& client, const std::string& user, time_point now);

    static constexpr std::size_t max_keys = 100'000;

    counts by_address_{max_keys};
    counts by_user_{max_keys};
    lru_cache<std::string, time_point> good_{max_keys};
};

} // namespace tempinbox::mail_ingest
