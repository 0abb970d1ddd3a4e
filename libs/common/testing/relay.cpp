#include "common/testing/relay.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <functional>
#include <future>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace tempinbox::testing {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

enum class mode { open, cut, frozen, holding };

// One direction of a connection; the two share their sockets.
class pipe : public std::enable_shared_from_this<pipe>
{
public:
    pipe(std::shared_ptr<tcp::socket> from, std::shared_ptr<tcp::socket> to, const mode& now)
        : from_(std::move(from)),
          to_(std::move(to)),
          now_(now)
    {}

    void read()
    {
        from_->async_read_some(asio::buffer(buffer_),
                               [self = shared_from_this()](const auto& error, std::size_t size) {
                                   if (error)
                                       return self->close();
                                   // Data that arrived while frozen is never passed on: the
                                   // connection is as good as dead.
                                   if (self->now_ == mode::open)
                                       self->write(size);
                               });
    }

    void close()
    {
        boost::system::error_code ignored;
        from_->close(ignored);
        to_->close(ignored);
    }

private:
    void write(std::size_t size)
    {
        asio::async_write(*to_, asio::buffer(buffer_, size),
                          [self = shared_from_this()](const auto& error, std::size_t) {
                              if (error)
                                  return self->close();
                              self->read();
                          });
    }

    std::shared_ptr<tcp::socket> from_;
    std::shared_ptr<tcp::socket> to_;
    const mode& now_;
    std::array<char, 16'384> buffer_;
};

} // namespace

struct relay::state
{
    explicit state(const host_port& where)
        : acceptor(loop, {asio::ip::make_address("127.0.0.1"), 0}),
          target(asio::ip::make_address(where.host == "localhost" ? "127.0.0.1" : where.host),
                 where.port)
    {
        accept();
        thread = std::thread([this] { loop.run(); });
    }

    ~state()
    {
        loop.stop();
        thread.join();
    }

    void accept()
    {
        auto client = std::make_shared<tcp::socket>(loop);
        acceptor.async_accept(*client, [this, client](const auto& error) {
            if (error)
                return;
            if (now == mode::holding)
                held.push_back(client);
            else if (now != mode::cut)
                connect(client);
            accept();
        });
    }

    void connect(const std::shared_ptr<tcp::socket>& client)
    {
        auto server = std::make_shared<tcp::socket>(loop);
        server->async_connect(target, [this, client, server](const auto& error) {
            if (error)
                return;
            for (const auto& one : {std::make_shared<pipe>(client, server, now),
                                    std::make_shared<pipe>(server, client, now)}) {
                pipes.insert(one);
                one->read();
            }
        });
    }

    void change(mode requested)
    {
        on_loop([&] {
            now = requested;
            for (const auto& one : pipes)
                if (const auto pipe = one.lock(); pipe && requested != mode::frozen)
                    pipe->close();
            if (requested != mode::frozen)
                pipes.clear();
            if (requested == mode::open)
                for (const auto& client : std::exchange(held, {}))
                    connect(client);
        });
    }

    void on_loop(const std::function<void()>& step)
    {
        std::promise<void> done;
        asio::post(loop, [&] {
            step();
            done.set_value();
        });
        done.get_future().wait();
    }

    asio::io_context loop{1};
    tcp::acceptor acceptor;
    tcp::endpoint target;
    mode now = mode::open;
    std::set<std::weak_ptr<pipe>, std::owner_less<>> pipes;
    std::vector<std::shared_ptr<tcp::socket>> held;
    std::thread thread;
};

relay::relay(const host_port& target) : state_(std::make_unique<state>(target)) {}

relay::~relay() = default;

host_port relay::address() const
{
    return host_port("127.0.0.1", state_->acceptor.local_endpoint().port());
}

void relay::cut()
{
    state_->change(mode::cut);
}

void relay::freeze()
{
    state_->change(mode::frozen);
}

void relay::hold()
{
    state_->change(mode::holding);
}

std::size_t relay::held() const
{
    std::size_t count = 0;
    state_->on_loop([&] { count = state_->held.size(); });
    return count;
}

void relay::restore()
{
    state_->change(mode::open);
}

} // namespace tempinbox::testing
