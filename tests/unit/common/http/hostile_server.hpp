#pragma once

#include "common/core/network.hpp"
#include "common/testing/await.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace tempinbox::testing {

// Sends `first` on each connection and then `again` for ever, one piece after each delay, until the
// client goes away.
class hostile_server
{
public:
    hostile_server(std::string first, std::string again, std::chrono::milliseconds delay = {})
        : state_(std::make_shared<state>(std::move(first), std::move(again), delay))
    {
        boost::asio::co_spawn(test_host().loop(), state::accept(state_), boost::asio::detached);
    }
    ~hostile_server()
    {
        state_->acceptor.close();
        eventually([this] { return state_.use_count() == 1; });
    }
    hostile_server(const hostile_server&) = delete;

    std::string url() const
    {
        return "http://127.0.0.1:" + std::to_string(state_->acceptor.local_endpoint().port()) + "/";
    }
    std::size_t bytes_sent() const { return state_->sent; }
    // Whether every client has gone away.
    bool is_left() const { return state_->open == 0; }

private:
    struct state
    {
        state(std::string opening, std::string endless, std::chrono::milliseconds wait)
            : first(std::move(opening)),
              again(std::move(endless)),
              delay(wait),
              acceptor(test_host().loop(), {boost::asio::ip::address_v4::loopback(), 0})
        {}

        static awaitable<void> accept(std::shared_ptr<state> self)
        {
            for (;;) {
                auto [error, socket] = co_await self->acceptor.async_accept(
                    boost::asio::as_tuple(boost::asio::use_awaitable));
                if (error)
                    co_return;
                ++self->open;
                boost::asio::co_spawn(test_host().loop(), serve(self, std::move(socket)),
                                      boost::asio::detached);
            }
        }

        static awaitable<void> serve(std::shared_ptr<state> self,
                                     boost::asio::ip::tcp::socket socket)
        {
            char request[4096];
            auto [failed, got] = co_await socket.async_read_some(
                boost::asio::buffer(request), boost::asio::as_tuple(boost::asio::use_awaitable));
            boost::asio::steady_timer timer(test_host().loop());
            const std::string* piece = &self->first;
            while (!failed) {
                auto [error, count] = co_await boost::asio::async_write(
                    socket, boost::asio::buffer(*piece),
                    boost::asio::as_tuple(boost::asio::use_awaitable));
                self->sent += count;
                failed = error;
                piece = &self->again;
                if (!failed && self->delay.count() != 0) {
                    timer.expires_after(self->delay);
                    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
                }
            }
            --self->open;
        }

        std::string first;
        std::string again;
        std::chrono::milliseconds delay;
        boost::asio::ip::tcp::acceptor acceptor;
        std::size_t sent = 0;
        int open = 0;
    };

    std::shared_ptr<state> state_;
};

} // namespace tempinbox::testing
