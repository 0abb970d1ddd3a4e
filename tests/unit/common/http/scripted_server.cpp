#include "unit/common/http/scripted_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>

#include <deque>
#include <list>

namespace tempinbox::testing {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);

bool is_whole(const std::string& request)
{
    const auto head = request.find("\r\n\r\n");
    if (head == std::string::npos)
        return false;
    const auto length = request.find("Content-Length: ");
    return request.size() >=
           head + 4 + (length < head ? std::stoul(request.substr(length + 16)) : 0);
}

} // namespace

struct scripted_server::state
{
    explicit state(std::vector<script> given)
        : scripts(given.begin(), given.end()),
          acceptor(test_host().loop(), {asio::ip::address_v4::loopback(), 0})
    {}

    static awaitable<void> accept(std::shared_ptr<state> self)
    {
        for (;;) {
            auto [error, socket] = co_await self->acceptor.async_accept(tuple_awaitable);
            if (error)
                co_return;
            ++self->accepted;
            const auto position = self->open.insert(self->open.end(), std::move(socket));
            script next({}, false);
            if (!self->scripts.empty()) {
                next = self->scripts.front();
                self->scripts.pop_front();
            }
            asio::co_spawn(test_host().loop(), serve(self, position, std::move(next)),
                           asio::detached);
        }
    }

    static awaitable<void> serve(std::shared_ptr<state> self,
                                 std::list<tcp::socket>::iterator position, script next)
    {
        for (const auto& response : next.responses) {
            std::string request;
            while (!is_whole(request)) {
                char bytes[4096];
                auto [error, count] =
                    co_await position->async_read_some(asio::buffer(bytes), tuple_awaitable);
                if (error)
                    co_return;
                request.append(bytes, count);
            }
            self->requests.push_back(request);
            if (!response.empty())
                co_await asio::async_write(*position, asio::buffer(response), tuple_awaitable);
        }
        if (!next.stays_open)
            position->close();
    }

    std::deque<script> scripts;
    tcp::acceptor acceptor;
    std::list<tcp::socket> open;
    std::size_t accepted = 0;
    std::vector<std::string> requests;
};

scripted_server::scripted_server(std::vector<script> scripts)
    : state_(std::make_shared<state>(std::move(scripts)))
{
    asio::co_spawn(test_host().loop(), state::accept(state_), asio::detached);
}

scripted_server::~scripted_server()
{
    state_->acceptor.close();
    close_connections();
    eventually([this] { return state_.use_count() == 1; });
}

host_port scripted_server::address() const
{
    return {"127.0.0.1", state_->acceptor.local_endpoint().port()};
}

std::size_t scripted_server::connections() const
{
    return state_->accepted;
}

const std::vector<std::string>& scripted_server::requests() const
{
    return state_->requests;
}

void scripted_server::close_connections()
{
    for (auto& socket : state_->open)
        socket.close();
}

} // namespace tempinbox::testing
