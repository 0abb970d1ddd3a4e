#include "gateway/access/session_cookie.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

http::request with_cookies(const std::vector<std::string>& fields)
{
    http::request received;
    for (const auto& field : fields)
        received.headers.emplace_back("Cookie", field);
    return received;
}

std::string set_cookie_of(const http::response& response)
{
    return std::string(http::find_header(response.headers, "Set-Cookie").value_or(""));
}

} // namespace

TEST_CASE("the session's cookie is read by its whole name", "[gateway][session]")
{
    const session_cookie plain(false);

    CHECK(plain.find(with_cookies({"a=b; tempinbox_session=token; c=d"}))->reveal() == "token");
    CHECK_FALSE(plain.find(with_cookies({})));
    CHECK_FALSE(plain.find(with_cookies({"xtempinbox_session=token; tempinbox_session2=token"})));
    CHECK_FALSE(plain.find(with_cookies({"tempinbox_session="})));
    CHECK_FALSE(plain.find(with_cookies({"tempinbox_session=" + std::string(200, 'x')})));
}

TEST_CASE("of two cookies with the session's name neither is believed", "[gateway][session]")
{
    const session_cookie plain(false);

    CHECK_FALSE(plain.find(with_cookies({"tempinbox_session=mine; tempinbox_session=theirs"})));
    CHECK_FALSE(plain.find(with_cookies({"tempinbox_session=mine", "tempinbox_session=theirs"})));
}

TEST_CASE("over TLS only a cookie that no other host can set is a session's", "[gateway][session]")
{
    const session_cookie secure(true);

    CHECK_FALSE(secure.find(with_cookies({"tempinbox_session=token"})));
    CHECK(secure.find(with_cookies({"__Host-tempinbox_session=token"}))->reveal() == "token");
}

TEST_CASE("the cookie is out of reach of scripts and other sites, and of plain connections where "
          "there is TLS",
          "[gateway][session]")
{
    http::response plain, secure, cleared;
    session_cookie(false).set(plain, secret("token"), std::chrono::hours(1));
    session_cookie(true).set(secure, secret("token"), std::chrono::hours(1));
    session_cookie(true).clear(cleared);

    CHECK(set_cookie_of(plain) ==
          "tempinbox_session=token; Path=/; HttpOnly; SameSite=Lax; Max-Age=3600");
    CHECK(set_cookie_of(secure) ==
          "__Host-tempinbox_session=token; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=3600");
    CHECK(set_cookie_of(cleared) ==
          "__Host-tempinbox_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0");
}

TEST_CASE("TLS is the gateway's own, or what a trusted proxy says", "[gateway][session]")
{
    const std::vector<network> proxies{network::parse("10.0.0.0/8").value()};
    http::request received;
    received.headers.emplace_back("X-Forwarded-Proto", "https");
    received.peer = boost::asio::ip::make_address("192.0.2.1");

    CHECK_FALSE(is_over_tls(received, proxies));
    received.peer = boost::asio::ip::make_address("10.1.2.3");
    CHECK(is_over_tls(received, proxies));
    CHECK_FALSE(is_over_tls(received, {}));
    received.headers[0].second = "http";
    CHECK_FALSE(is_over_tls(received, proxies));
    received.is_tls = true;
    CHECK(is_over_tls(received, {}));
}

TEST_CASE("a CSRF token belongs to one session and does not reveal it", "[gateway][session]")
{
    const auto token = csrf_token_of(secret("session"));

    CHECK(token == csrf_token_of(secret("session")));
    CHECK(token != csrf_token_of(secret("session2")));
    CHECK(token.size() == 43);
    CHECK(token.find("session") == std::string::npos);
}
