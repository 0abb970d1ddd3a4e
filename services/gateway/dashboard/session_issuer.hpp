#pragma once

#include "accounts/sign_in_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/http/message.hpp"
#include "gateway/access/session_cookie.hpp"
#include "gateway/access/session_lookups.hpp"

#include <string>
#include <vector>

namespace tempinbox::gateway {

// Opens a session after a password was verified, and reads and writes its cookie.
class session_issuer
{
public:
    session_issuer(accounts::sign_in_repository& sign_in, session_lookups& lookups,
                   std::vector<network> trusted_proxies);

    // Responds with the new session and its cookie. The browser's earlier session ends, so that
    // somebody who knew its id is not signed in. 401 if the password was changed meanwhile.
    awaitable<http::response> issue(const http::request& received, const accounts::account& account,
                                    std::string password_hash, unsigned status, time_point now);

    session_cookie cookie_of(const http::request& received) const;
    // The key by which the client is counted.
    std::string address_of(const http::request& received) const;

private:
    accounts::sign_in_repository& sign_in_;
    session_lookups& lookups_;
    std::vector<network> trusted_proxies_;
};

// The same text for an unknown address and for a wrong password.
http::response wrong_credentials();

} // namespace tempinbox::gateway
