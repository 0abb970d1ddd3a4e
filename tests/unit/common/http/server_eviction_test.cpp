#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>

#include <deque>

using namespace tempinbox;
using Catch::Contains;
using Catch::StartsWith;
using std::chrono::milliseconds;
using testing::raw_client;
using testing::running_server;

namespace {

const std::string whole_request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

awaitable<http::response> ok(http::request&)
{
    co_return http::response(200, "text/plain", "ok");
}

// Works until its client hangs up.
awaitable<http::response> work(http::request& received)
{
    boost::asio::steady_timer never(testing::test_host().loop(), std::chrono::hours(1));
    received.on_hang_up = [&never] { never.cancel(); };
    co_await never.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return http::response(200, "text/plain", "done");
}

awaitable<http::response> work_or_ok(http::request& received)
{
    return received.path == "/work" ? work(received) : ok(received);
}

http::server_settings limited_connections(std::size_t limit)
{
    http::server_settings settings;
    settings.connection_limit = limit;
    settings.name = "few places";
    return settings;
}

http::server_settings limited_per_address(std::size_t max)
{
    http::server_settings settings;
    settings.connections_per_address = max;
    settings.name = "few an address";
    return settings;
}

// Clients that got one response and then send nothing more, in the order in which they fell silent.
std::deque<raw_client> silent_clients(const running_server& running, std::size_t count)
{
    std::deque<raw_client> clients;
    for (std::size_t i = 0; i < count; ++i)
        clients.emplace_back(running.address()).send(whole_request).read_response();
    return clients;
}

// Clients whose header never ends, the one that began first in front.
std::deque<raw_client> slow_clients(const running_server& running, std::size_t count)
{
    std::deque<raw_client> clients;
    for (std::size_t i = 0; i < count; ++i)
        clients.emplace_back(running.address()).send("GET / HTTP/1.1\r\nHo").pause();
    return clients;
}

double idle_closed()
{
    return testing::test_host()
        .metrics()
        .counter("http_server_idle_connections_closed_total",
                 "Idle connections closed to make room for new ones", {{"server", "few places"}})
        .Value();
}

double slow_closed()
{
    return testing::test_host()
        .metrics()
        .counter("http_server_slow_connections_closed_total",
                 "Connections closed in their handshake or header to make room for new ones",
                 {{"server", "few places"}})
        .Value();
}

} // namespace

TEST_CASE("a full server closes the longest idle connection to make room for a new one", "[http]")
{
    running_server running(ok, limited_connections(3));
    auto clients = silent_clients(running, 3);
    CHECK_THAT(clients[0].send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
    const auto before = idle_closed();

    raw_client fresh(running.address());

    CHECK_THAT(fresh.send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
    CHECK(clients[1].is_closed());
    CHECK(idle_closed() == before + 1);
    CHECK(running.server.connections() == 3);
    CHECK_THAT(clients[0].send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
    CHECK_THAT(clients[2].send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("connections that never sent a byte are evicted too", "[http]")
{
    running_server running(ok, limited_connections(2));
    raw_client first(running.address());
    raw_client second(running.address());
    REQUIRE(testing::eventually([&] { return running.server.connections() == 2; }));

    raw_client fresh(running.address());

    CHECK_THAT(fresh.send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
    CHECK(first.is_closed());
}

TEST_CASE("idle connections up to a tenth of the limit are not evicted: then new ones are refused",
          "[http]")
{
    running_server running(work_or_ok, limited_connections(10));
    auto idle = silent_clients(running, 1);
    std::deque<raw_client> busy;
    for (int i = 0; i < 9; ++i)
        busy.emplace_back(running.address()).send("GET /work HTTP/1.1\r\nHost: h\r\n\r\n").pause();
    REQUIRE(testing::eventually([&] { return running.server.connections() == 10; }));

    raw_client refused(running.address());

    CHECK_THAT(refused.read_to_end(), StartsWith("HTTP/1.1 503 "));
    CHECK_THAT(idle[0].send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("a full server evicts the longest sender of a header before an idle connection", "[http]")
{
    running_server running(ok, limited_connections(4));
    auto idle = silent_clients(running, 2);
    auto slow = slow_clients(running, 2);
    REQUIRE(running.server.connections() == 4);
    const auto slow_before = slow_closed();
    const auto idle_before = idle_closed();

    auto fresh = silent_clients(running, 1);
    CHECK(slow[0].is_closed());
    CHECK_FALSE(slow[1].is_closed(milliseconds(0)));
    silent_clients(running, 1).swap(fresh);
    raw_client third(running.address());
    CHECK_THAT(third.send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));

    CHECK(slow[1].is_closed());
    CHECK(slow_closed() == slow_before + 2);
    CHECK(idle_closed() == idle_before);
    CHECK_THAT(idle[0].send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("a server full of slow headers refuses nobody", "[http]")
{
    running_server running(ok, limited_connections(10));
    auto slow = slow_clients(running, 10);
    REQUIRE(running.server.connections() == 10);

    auto fresh = silent_clients(running, 10);

    CHECK(running.server.connections() == 10);
    for (auto& client : slow)
        CHECK(client.is_closed());
    for (auto& client : fresh)
        CHECK_THAT(client.send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("of slow bodies the one that has taken longest is evicted", "[http]")
{
    running_server running(ok, limited_connections(2));
    std::deque<raw_client> uploading;
    for (int i = 0; i < 2; ++i)
        uploading.emplace_back(running.address())
            .send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh")
            .pause();
    REQUIRE(running.server.connections() == 2);

    raw_client next(running.address());

    CHECK_THAT(next.send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
    CHECK(uploading.front().is_closed());
    CHECK_THAT(uploading.back().send("i").read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("an address has so many connections at once and no more", "[http]")
{
    running_server running(ok, limited_per_address(2));
    raw_client first(running.address());
    raw_client second(running.address());
    REQUIRE(testing::eventually([&] { return running.server.connections() == 2; }));

    raw_client third(running.address());
    const auto refusal = third.read_to_end();
    first.close();
    REQUIRE(testing::eventually([&] { return running.server.connections() == 1; }));
    raw_client fourth(running.address());

    CHECK_THAT(refusal, StartsWith("HTTP/1.1 503 ") &&
                            Contains("Too many connections from this address: 2 are open"));
    CHECK_THAT(refusal,
               Contains("\r\nRetry-After: 1\r\n") && Contains("\r\nConnection: close\r\n"));
    CHECK_THAT(fourth.send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("networks that are not counted, such as those of proxies, have any number", "[http]")
{
    auto settings = limited_per_address(1);
    settings.uncounted = {network::parse("127.0.0.0/8").value()};
    running_server running(ok, settings);

    auto clients = silent_clients(running, 5);

    CHECK(running.server.connections() == 5);
    for (auto& client : clients)
        CHECK_THAT(client.send(whole_request).read_response(), StartsWith("HTTP/1.1 200 "));
}
