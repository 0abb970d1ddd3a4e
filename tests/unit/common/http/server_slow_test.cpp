#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using Catch::StartsWith;
using namespace std::chrono_literals;
using testing::raw_client;
using testing::running_server;
using clock_type = std::chrono::steady_clock;

namespace {

awaitable<http::response> ok(http::request& received)
{
    co_return http::response(200, "text/plain", received.body);
}

http::server_settings short_times()
{
    http::server_settings settings;
    settings.header_timeout = 200ms;
    settings.body_timeout = 200ms;
    settings.idle_timeout = 400ms;
    settings.name = "slow";
    return settings;
}

// Sends the piece again and again, a few milliseconds apart, until the server responds or closes;
// returns its response.
std::string dribble(raw_client& client, std::string_view piece, clock_type::duration& took)
{
    const auto began = clock_type::now();
    while (!client.pause() && clock_type::now() - began < 10s)
        client.send(piece);
    took = clock_type::now() - began;
    return client.read_to_end(3s);
}

} // namespace

TEST_CASE("a header that comes drop by drop is cut off as one that stops", "[http][slow]")
{
    running_server running(ok, short_times());
    raw_client client(running.address());
    client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ");

    clock_type::duration took{};
    const auto response = dribble(client, "x", took);

    CHECK_THAT(response, StartsWith("HTTP/1.1 408 ") && Contains("\r\nConnection: close\r\n"));
    CHECK(took >= 150ms);
    CHECK(took < 3s);
}

TEST_CASE("a body that comes drop by drop is cut off as one that stops, chunked or not",
          "[http][slow]")
{
    const auto coding =
        GENERATE(as<std::string>(), "Content-Length: 60000", "Transfer-Encoding: chunked");
    running_server running(ok, short_times());
    raw_client client(running.address());
    client.send("POST / HTTP/1.1\r\nHost: h\r\n" + coding + "\r\n\r\n");

    clock_type::duration took{};
    const auto response = dribble(client, coding.back() == 'd' ? "1\r\nx\r\n" : "x", took);

    CHECK_THAT(response, StartsWith("HTTP/1.1 408 ") && Contains("\r\nConnection: close\r\n"));
    CHECK(took >= 150ms);
    CHECK(took < 5s); // the time for a body grows with its announced length
}

TEST_CASE("empty lines do not keep a connection alive", "[http][slow]")
{
    running_server running(ok, short_times());
    raw_client client(running.address());

    clock_type::duration took{};
    const auto response = dribble(client, "\r\n", took);

    CHECK(response.empty());
    CHECK(took >= 300ms);
    CHECK(took < 3s);
    CHECK(testing::eventually([&] { return running.server.connections() == 0; }));
}

TEST_CASE("slow clients in number keep nobody else from being served", "[http][slow]")
{
    auto settings = short_times();
    settings.header_timeout = 60s; // longer than a response is waited for
    running_server running(ok, settings);
    std::vector<std::unique_ptr<raw_client>> slow;
    for (int i = 0; i < 200; ++i) {
        slow.push_back(std::make_unique<raw_client>(running.address()));
        slow.back()->send("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ");
    }
    REQUIRE(testing::eventually([&] { return running.server.connections() == 200; }));

    raw_client quick(running.address());
    const auto response = quick.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK_THAT(response, StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("slow clients that hold every connection are gone after their time", "[http][slow]")
{
    auto settings = short_times();
    settings.body_timeout = 3s; // all are there before the first is gone
    settings.connection_limit = 20;
    running_server running(ok, settings);
    std::vector<std::unique_ptr<raw_client>> slow;
    for (int i = 0; i < 20; ++i) {
        slow.push_back(std::make_unique<raw_client>(running.address()));
        slow.back()->send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nx");
    }
    REQUIRE(testing::eventually([&] { return running.server.connections() == 20; }));
    CHECK_THAT(raw_client(running.address()).read_to_end(), StartsWith("HTTP/1.1 503 "));

    std::string response;
    CHECK(testing::eventually([&] {
        raw_client next(running.address());
        response = next.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response();
        return response.starts_with("HTTP/1.1 200 ");
    }));
}

TEST_CASE("a client that closed its own side still gets its answer", "[http][slow]")
{
    running_server running(ok, short_times());
    raw_client client(running.address());

    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi").end_sending();

    CHECK_THAT(client.read_to_end(), StartsWith("HTTP/1.1 200 ") && Contains("\r\n\r\nhi"));
    CHECK(testing::eventually([&] { return running.server.connections() == 0; }));
}

TEST_CASE("a TLS handshake that does not come, or comes drop by drop, is cut off",
          "[http][slow][tls]")
{
    const testing::scratch_folder folder;
    const auto pair = testing::make_self_signed("DNS:good.test");
    auto settings = short_times();
    settings.certificate_file = folder.write("certificate.pem", pair.certificate);
    settings.key_file = folder.write("key.pem", pair.key);
    running_server running(ok, settings);

    raw_client silent(running.address());
    CHECK(silent.is_closed(3s));

    raw_client slow(running.address());
    slow.send(std::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                               11)); // the head of a ClientHello
    clock_type::duration took{};
    dribble(slow, "x", took);
    CHECK(took < 3s);
    CHECK(testing::eventually([&] { return running.server.connections() == 0; }));
}
