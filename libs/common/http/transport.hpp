#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <string>

typedef struct ssl_session_st SSL_SESSION;
typedef struct ssl_st SSL;

namespace boost::asio::ssl {
class context;
}

namespace tempinbox::http {

// Outcome of one transfer.
struct transfer
{
    boost::system::error_code error;
    std::size_t bytes = 0;
};

using buffer_pair = std::array<boost::asio::const_buffer, 2>;

// A TCP connection, plain or TLS. The one place where Asio's stream operations are instantiated.
// Errors are values; `cancel` ends the operation in progress with operation_aborted and leaves the
// connection usable.
class transport
{
public:
    explicit transport(boost::asio::ip::tcp::socket socket);
    ~transport();
    transport(const transport&) = delete;

    boost::asio::ip::tcp::socket& socket() { return socket_; }
    bool is_tls() const { return tls_ != nullptr; }
    std::chrono::steady_clock::time_point made_at() const { return made_at_; }

    awaitable<boost::system::error_code> connect(boost::asio::ip::tcp::endpoint peer);
    // Makes the connection TLS; call one of the handshakes next.
    SSL* start_tls(boost::asio::ssl::context& context);
    awaitable<boost::system::error_code> accept_tls();
    // Checks the peer's certificate against `host` where the context verifies at all.
    awaitable<boost::system::error_code> connect_tls(const std::string& host, bool is_verified);
    // Why a handshake failed, for people.
    std::string describe_handshake(const boost::system::error_code& failed);

    awaitable<transfer> read_some(boost::asio::mutable_buffer into);
    // Writes as much as the kernel takes at once on a plain connection; nothing on a TLS one.
    transfer try_write(const buffer_pair& bytes);
    // Writes all of it.
    awaitable<transfer> write(buffer_pair bytes);
    // RFC 8446 6.1: close_notify both ways. What the peer still sends comes undecrypted then.
    awaitable<void> shut_down_tls();

    void cancel();
    void close();
    // For an idle connection: no bytes have arrived and the peer has not closed.
    bool is_quiet();

private:
    struct tls_layer;

    boost::asio::ip::tcp::socket socket_;
    std::unique_ptr<tls_layer> tls_;
    std::chrono::steady_clock::time_point made_at_ = std::chrono::steady_clock::now();
};

} // namespace tempinbox::http
