#pragma once

#include "accounts/session_store.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/http/message.hpp"
#include "gateway/sessions/session_cookie.hpp"
#include "gateway/sessions/session_lookups.hpp"

#include <string>
#include <vector>

namespace tempinbox::gateway {

// Opens sessions for who has shown a password, and knows the browser's side of them.
class session_issuer
{
public:
    session_issuer(accounts::session_store& sessions, session_lookups& lookups,
                   std::vector<network> trusted_proxies);

    // Answers the session with its cookie. The one that the browser had ends, so that nobody who
    // knew its id is signed in now. 401 where the password was changed meanwhile.
    awaitable<http::response> issue(const http::request& received, const accounts::account& account,
                                    std::string password_hash, unsigned status, time_point now);

    session_cookie cookie_of(const http::request& received) const;
    // By what the client is counted.
    std::string address_of(const http::request& received) const;

private:
    accounts::session_store& sessions_;
    session_lookups& lookups_;
    std::vector<network> trusted_proxies_;
};

// One text for an unknown address and a wrong password.
http::response wrong_credentials();

} // namespace tempinbox::gateway
