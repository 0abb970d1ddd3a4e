#include "common/http/transport.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>

#include <sys/socket.h>

namespace tempinbox::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);

} // namespace

struct transport::tls_layer
{
    tls_layer(asio::ip::tcp::socket& below, asio::ssl::context& context) : stream(below, context) {}
    // OpenSSL takes a connection freed without close_notify for an attack and discards its session.
    // Here every message states its own length, so truncation shows.
    ~tls_layer()
    {
        SSL_set_shutdown(stream.native_handle(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }

    asio::ssl::stream<asio::ip::tcp::socket&> stream;
};

transport::transport(asio::ip::tcp::socket socket) : socket_(std::move(socket))
{
    if (socket_.is_open()) {
        error_code ignored;
        socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
        socket_.non_blocking(true, ignored);
    }
}

transport::~transport() = default;

awaitable<error_code> transport::connect(asio::ip::tcp::endpoint peer)
{
    error_code error;
    socket_.open(peer.protocol(), error);
    if (error)
        co_return error;
    socket_.set_option(asio::ip::tcp::no_delay(true), error);
    auto [outcome] = co_await socket_.async_connect(peer, tuple_awaitable);
    if (!outcome)
        socket_.non_blocking(true, outcome);
    co_return outcome;
}

SSL* transport::start_tls(asio::ssl::context& context)
{
    tls_ = std::make_unique<tls_layer>(socket_, context);
    return tls_->stream.native_handle();
}

awaitable<error_code> transport::accept_tls()
{
    auto [outcome] =
        co_await tls_->stream.async_handshake(asio::ssl::stream_base::server, tuple_awaitable);
    co_return outcome;
}

awaitable<error_code> transport::connect_tls(const std::string& host, bool is_verified)
{
    SSL* const tls = tls_->stream.native_handle();
    error_code error;
    asio::ip::make_address(host, error);
    const bool is_name = static_cast<bool>(error);
    // RFC 6066 3: a server name is not an address and has no trailing dot.
    const std::string name = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
    if (is_name)
        SSL_set_tlsext_host_name(tls, name.c_str());
    tls_->stream.set_verify_mode(is_verified ? asio::ssl::verify_peer : asio::ssl::verify_none,
                                 error);
    if (is_verified) {
        // OpenSSL itself checks the host, so that a wrong host is told apart from a wrong
        // certificate.
        X509_VERIFY_PARAM* const params = SSL_get0_param(tls);
        X509_VERIFY_PARAM_set_hostflags(params, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        const int is_set = is_name ? X509_VERIFY_PARAM_set1_host(params, name.data(), name.size())
                                   : X509_VERIFY_PARAM_set1_ip_asc(params, name.c_str());
        if (is_set != 1)
            co_return asio::error::invalid_argument;
    }
    auto [outcome] =
        co_await tls_->stream.async_handshake(asio::ssl::stream_base::client, tuple_awaitable);
    co_return outcome;
}

std::string transport::describe_handshake(const error_code& failed)
{
    switch (const long verified = SSL_get_verify_result(tls_->stream.native_handle()); verified) {
    case X509_V_OK:
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return "the certificate is not trusted: it is for another host";
    default:
        return std::string("the certificate is not trusted: ") +
               X509_verify_cert_error_string(verified);
    }
    std::string reason = failed.message();
    if (failed.category() == asio::error::get_ssl_category()) {
        // OpenSSL's words for these name the consequence.
        const int code = ERR_GET_REASON(static_cast<unsigned long>(failed.value()));
        if (code == SSL_R_HTTP_REQUEST)
            reason = "the peer speaks plain HTTP";
        else if (code == SSL_R_WRONG_VERSION_NUMBER)
            reason = "the peer does not speak TLS";
    }
    return "the TLS handshake failed: " + reason;
}

awaitable<transfer> transport::read_some(asio::mutable_buffer into)
{
    if (tls_) {
        auto [error, bytes] = co_await tls_->stream.async_read_some(into, tuple_awaitable);
        co_return transfer(error, bytes);
    }
    auto [error, bytes] = co_await socket_.async_read_some(into, tuple_awaitable);
    co_return transfer(error, bytes);
}

transfer transport::try_write(const buffer_pair& bytes)
{
    transfer done;
    if (tls_)
        return done;
    done.bytes = socket_.write_some(bytes, done.error);
    if (done.error == asio::error::would_block || done.error == asio::error::try_again)
        done.error = error_code();
    return done;
}

awaitable<transfer> transport::write(buffer_pair bytes)
{
    if (tls_) {
        auto [error, count] = co_await asio::async_write(tls_->stream, bytes, tuple_awaitable);
        co_return transfer(error, count);
    }
    auto [error, count] = co_await asio::async_write(socket_, bytes, tuple_awaitable);
    co_return transfer(error, count);
}

awaitable<void> transport::shut_down_tls()
{
    if (!tls_)
        co_return;
    co_await tls_->stream.async_shutdown(tuple_awaitable);
    tls_.reset();
}

void transport::cancel()
{
    error_code ignored;
    socket_.cancel(ignored);
}

void transport::close()
{
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
}

bool transport::is_quiet()
{
    char byte;
    const auto got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

} // namespace tempinbox::http
