#pragma once

#include "common/http/server.hpp"
#include "common/testing/await.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

namespace tempinbox::testing {

// A server on the test loop, drained at the end so that it does not outlive the test.
class running_server
{
public:
    explicit running_server(http::handler handle, http::server_settings settings = {},
                            http::server_hooks hooks = {})
        : server(test_host(), std::move(settings), std::move(handle), std::move(hooks))
    {
        server.start();
    }

    ~running_server()
    {
        server.stop();
        eventually([this] { return server.connections() == 0; });
    }

    host_port address() const { return server.local_address(); }
    std::string url(std::string_view path) const
    {
        return "http://" + address().text() + std::string(path);
    }

    http::server server;
};

// Responds a minute later, or as soon as the client hangs up.
inline awaitable<http::response> wait_for_hang_up(http::request& received, bool& is_notified)
{
    boost::asio::steady_timer timer(test_host().loop(), std::chrono::seconds(60));
    received.on_hang_up = [&timer, &is_notified] {
        is_notified = true;
        timer.cancel();
    };
    boost::system::error_code ignored;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    co_return http::response(200, "text/plain", "late");
}

} // namespace tempinbox::testing
