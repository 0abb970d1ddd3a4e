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

// A client's connection, in the clear and then under TLS. A plain connection that waits holds no
// read buffer: all share one, since the bytes are used up before the loop runs anything else.
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
    // Overwrites what the last read returned.
    void wipe_input();
    awaitable<error_code> write(const std::string& bytes);
    awaitable<error_code> shake_hands(std::shared_ptr<boost::asio::ssl::context> context);
    // Under TLS this sends close_notify, as RFC 8446 6.1 requires; what comes after the client's
    // own close_notify is not TLS.
    awaitable<void> end_output();
    void cancel();
    void close();

    // Under TLS only: "TLSv1.3".
    std::string protocol();
    bool has_input() const;
    // The client has closed its side, and all it sent was read.
    bool has_ended();
    // The client has closed its side, whether or not all it sent was read.
    bool has_hung_up();

private:
    static constexpr std::size_t read_size = 64 * 1024;
    static std::array<char, read_size>& shared_buffer();

    tcp::socket socket_;
    std::shared_ptr<boost::asio::ssl::context> context_;
    std::unique_ptr<boost::asio::ssl::stream<tcp::socket&>> tls_;
    std::vector<char> tls_buffer_;
    std::size_t last_read_ = 0;
};

} // namespace tempinbox::smtp
