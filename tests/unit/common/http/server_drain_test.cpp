#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using Catch::StartsWith;
using std::chrono::milliseconds;
using testing::raw_client;
using testing::running_server;
using testing::wait_for_hang_up;

namespace {

// Responds once its gate opens.
class gated
{
public:
    gated() : gate_(testing::test_host().loop(), std::chrono::steady_clock::time_point::max()) {}

    http::handler handler()
    {
        return [this](http::request& received) { return wait(received); };
    }

    void open() { gate_.cancel(); }
    int waiting() const { return waiting_; }

private:
    awaitable<http::response> wait(http::request&)
    {
        ++waiting_;
        boost::system::error_code opened;
        co_await gate_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, opened));
        --waiting_;
        co_return http::response(200, "text/plain", "done");
    }

    boost::asio::steady_timer gate_;
    int waiting_ = 0;
};

awaitable<http::response> respond_at_once(http::request&)
{
    co_return http::response(200, "text/plain", "done");
}

bool takes_no_connection(const host_port& address)
{
    try {
        raw_client ignored(address);
        return false;
    } catch (const std::exception&) {
        return true;
    }
}

constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

} // namespace

TEST_CASE("a request on its way to a server that begins to drain is answered", "[http]")
{
    running_server running(respond_at_once);
    raw_client kept(running.address());
    kept.send(get);
    REQUIRE_THAT(kept.read_response(), StartsWith("HTTP/1.1 200"));

    boost::asio::co_spawn(testing::test_host().loop(),
                          running.server.drain(std::chrono::seconds(10)), boost::asio::detached);
    REQUIRE(testing::eventually([&] { return takes_no_connection(running.address()); }));
    kept.send(get);

    CHECK_THAT(kept.read_to_end(),
               StartsWith("HTTP/1.1 200") && Contains("\r\nConnection: close\r\n"));
}

TEST_CASE("a draining server answers what is under way and closes what is idle", "[http]")
{
    gated gate;
    running_server running(gate.handler());
    raw_client busy(running.address());
    raw_client idle(running.address());
    idle.send(get);
    busy.send(get);
    REQUIRE(testing::eventually([&] { return gate.waiting() == 2; }));
    bool is_drained = false;
    gate.open();
    REQUIRE_THAT(idle.read_response(), StartsWith("HTTP/1.1 200"));
    REQUIRE_THAT(busy.read_response(), StartsWith("HTTP/1.1 200"));
    busy.send(get);
    REQUIRE(testing::eventually([&] { return gate.waiting() == 1; }));

    boost::asio::co_spawn(testing::test_host().loop(),
                          running.server.drain(std::chrono::seconds(10)),
                          [&is_drained](std::exception_ptr) { is_drained = true; });

    CHECK(idle.is_closed());
    CHECK_THROWS(raw_client(running.address()));
    CHECK_FALSE(is_drained);
    gate.open();
    CHECK_THAT(busy.read_to_end(),
               StartsWith("HTTP/1.1 200") && Contains("\r\nConnection: close\r\n"));
    CHECK(testing::eventually([&] { return is_drained; }));
}

TEST_CASE("a request that crosses the end of an idle connection is answered that it was not begun",
          "[http]")
{
    int begun = 0;
    http::server_settings settings;
    settings.goaway = http::response(503, "text/plain", "ending");
    running_server running(
        [&begun](http::request& received) {
            ++begun;
            return respond_at_once(received);
        },
        settings);
    raw_client client(running.address());
    client.send(get);
    REQUIRE_THAT(client.read_response(), StartsWith("HTTP/1.1 200"));
    bool is_drained = false;

    boost::asio::co_spawn(testing::test_host().loop(),
                          running.server.drain(std::chrono::seconds(10)),
                          [&is_drained](std::exception_ptr) { is_drained = true; });
    const auto goaway = client.read_response();
    client.send(get);

    CHECK_THAT(goaway, StartsWith("HTTP/1.1 503") && Contains("\r\nConnection: close\r\n"));
    CHECK(client.is_closed());
    CHECK(begun == 1);
    CHECK(testing::eventually([&] { return is_drained; }));
}

TEST_CASE("a connection made just before the drain still gets its answer", "[http]")
{
    running_server running([](http::request&) -> awaitable<http::response> {
        co_return http::response(200, "text/plain", "ok");
    });
    raw_client client(running.address());
    bool is_drained = false;

    boost::asio::co_spawn(testing::test_host().loop(),
                          running.server.drain(std::chrono::seconds(10)),
                          [&is_drained](std::exception_ptr) { is_drained = true; });
    client.pause();
    client.send(get);

    CHECK_THAT(client.read_to_end(),
               StartsWith("HTTP/1.1 200") && Contains("\r\nConnection: close\r\n"));
    CHECK(testing::eventually([&] { return is_drained; }));
}

TEST_CASE("a drain gives up when its time is over", "[http]")
{
    gated gate;
    running_server running(gate.handler());
    raw_client client(running.address());
    client.send(get);
    REQUIRE(testing::eventually([&] { return gate.waiting() == 1; }));

    testing::await(running.server.drain(milliseconds(50)));

    CHECK(running.server.connections() == 1);
    gate.open();
}

TEST_CASE("stopping closes connections and notifies handlers that listen", "[http]")
{
    bool is_notified = false;
    running_server running([&is_notified](http::request& received) {
        return wait_for_hang_up(received, is_notified);
    });
    raw_client client(running.address());
    client.send(get);
    REQUIRE_FALSE(client.is_closed(milliseconds(30)));

    running.server.stop();

    CHECK(client.is_closed());
    CHECK(is_notified);
}
