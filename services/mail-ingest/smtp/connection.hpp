#pragma once

#include "common/core/awaitable.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::smtp {

// A client's connection, in the clear and then under TLS. A plain one that waits holds no read
// buffer: one buffer serves all, since what is read is used before the loop turns.
class connection
{
public:
    using tcp = boost::asio::ip::tcp;
    using error_code = boost::system::error_code;

    explicit connection(tcp::socket socket) : socket_(std::move(socket)) {}

    struct read_result
    {
        error_code error;
        std::string_view bytes;
    };

    awaitable<read_result> read();
    awaitable<error_code> write(const std::string& bytes);
    awaitable<error_code> shake_hands(std::shared_ptr<boost::asio::ssl::context> context);
    // Of TLS with close_notify, which its client must have (RFC 8446 6.1); what comes after the
    // client's own is not TLS.
    awaitable<void> end_output();
    void cancel();
    void close();

    // Of TLS: "TLSv1.3".
    std::string protocol();
    bool has_input() const;
    // The client will say nothing more, and all it said was read.
    bool has_ended();
    // The client will say nothing more than what it has said, be it read or not.
    bool has_hung_up();

private:
    static constexpr std::size_t read_size = 64 * 1024;
    static std::array<char, read_size>& shared_buffer();

    tcp::socket socket_;
    std::shared_ptr<boost::asio::ssl::context> context_;
    std::unique_ptr<boost::asio::ssl::stream<tcp::socket&>> tls_;
    std::vector<char> tls_buffer_;
};

} // namespace tempinbox::smtp
