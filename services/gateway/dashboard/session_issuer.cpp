#include "gateway/dashboard/session_issuer.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "gateway/dashboard/errors.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/client_address.hpp"

namespace tempinbox::gateway {

session_issuer::session_issuer(accounts::sign_in_repository& sign_in, session_lookups& lookups,
                               std::vector<network> trusted_proxies)
    : sign_in_(sign_in),
      lookups_(lookups),
      trusted_proxies_(std::move(trusted_proxies))
{}

awaitable<http::response> session_issuer::issue(const http::request& received,
                                                const accounts::account& account,
                                                std::string password_hash, unsigned status,
                                                time_point now)
{
    const auto cookie = cookie_of(received);
    if (const auto former = cookie.find(received)) {
        auto digest = accounts::session_digest(former->reveal());
        co_await sign_in_.end_session(std::move(digest));
    }
    const auto token = accounts::make_session_token();
    auto digest = accounts::session_digest(token.reveal());
    if (!co_await sign_in_.open_session(digest, account.id(), std::move(password_hash)))
        co_return wrong_credentials();
    lookups_.note_open(std::move(digest));
    http::response response(status, "application/json",
                            session_json(account, csrf_token_of(token), now));
    cookie.set(response, token, sign_in_.bounds().max_lifetime);
    co_return response;
}

session_cookie session_issuer::cookie_of(const http::request& received) const
{
    return session_cookie(is_over_tls(received, trusted_proxies_));
}

std::string session_issuer::address_of(const http::request& received) const
{
    return client_prefix(client_address(received, trusted_proxies_));
}

http::response wrong_credentials()
{
    return error_response(dashboard_error::wrong_credentials);
}

} // namespace tempinbox::gateway
