#pragma once

#include "common/core/network.hpp"
#include "common/testing/await.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <string>

namespace tempinbox::testing {

// Speaks bytes to a server on the test loop; each wait runs that loop.
class raw_client
{
public:
    explicit raw_client(const host_port& server) : socket_(test_host().loop())
    {
        socket_.connect({boost::asio::ip::make_address(server.host), server.port});
        socket_.non_blocking(true);
    }

    raw_client& send(std::string_view bytes)
    {
        eventually([&] {
            boost::system::error_code error;
            bytes.remove_prefix(socket_.write_some(boost::asio::buffer(bytes), error));
            return bytes.empty() || (error && error != boost::asio::error::would_block);
        });
        return *this;
    }

    // Lets the server process what was sent so far; true if it responded.
    bool pause()
    {
        return eventually([&] { return take() || !read_.empty(); }, std::chrono::milliseconds(2));
    }

    // Reads up to and including `mark`, or what came until the end or the deadline if it does not
    // come.
    std::string read_until(std::string_view mark,
                           std::chrono::milliseconds deadline = std::chrono::seconds(10))
    {
        eventually([&] { return take() || read_.find(mark) != std::string::npos; }, deadline);
        const auto at = read_.find(mark);
        const auto length = at == std::string::npos ? read_.size() : at + mark.size();
        std::string result = read_.substr(0, length);
        read_.erase(0, length);
        return result;
    }

    // One response with a Content-Length, or the head alone of a HEAD request.
    std::string read_response(bool has_body = true)
    {
        std::string head = read_until("\r\n\r\n");
        const auto at = head.find("Content-Length: ");
        const auto length =
            has_body && at != std::string::npos ? std::stoul(head.substr(at + 16)) : 0;
        eventually([&] { return take() || read_.size() >= length; });
        head += read_.substr(0, length);
        read_.erase(0, std::min<std::size_t>(length, read_.size()));
        return head;
    }

    std::string read_to_end(std::chrono::milliseconds deadline = std::chrono::seconds(10))
    {
        eventually([&] { return take(); }, deadline);
        return std::exchange(read_, {});
    }

    // The server closed, and nothing is left to read.
    bool is_closed(std::chrono::milliseconds deadline = std::chrono::seconds(10))
    {
        return eventually([&] { return take(); }, deadline) && read_.empty();
    }

    void close() { socket_.close(); }
    // Shuts down one direction of the connection: responses still arrive.
    void end_sending() { socket_.shutdown(boost::asio::socket_base::shutdown_send); }
    void reset()
    {
        socket_.set_option(boost::asio::socket_base::linger(true, 0));
        socket_.close();
    }

private:
    // True once the server has closed.
    bool take()
    {
        char bytes[4096];
        for (;;) {
            boost::system::error_code error;
            const auto count = socket_.read_some(boost::asio::buffer(bytes), error);
            read_.append(bytes, count);
            if (error == boost::asio::error::would_block)
                return false;
            if (error)
                return true;
        }
    }

    boost::asio::ip::tcp::socket socket_;
    std::string read_;
};

} // namespace tempinbox::testing
