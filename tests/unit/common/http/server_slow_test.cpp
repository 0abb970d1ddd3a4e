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

TEST_CASE("a body that stops after a quick beginning is cut off when its bytes are used up",
          "[http][slow]")
{
    auto settings = short_times();
    settings.min_body_bytes_per_second = 20'000;
    running_server running(ok, settings);
    raw_client client(running.address());
    const auto began = clock_type::now();

    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n" +
                std::string(10'000, 'x'));

    CHECK_THAT(client.read_to_end(5s),
               StartsWith("HTTP/1.1 408 ") && Contains("less than 20000 bytes a second"));
    CHECK(clock_type::now() - began >= 600ms); // 0.2 s, and 0.5 s for 10,000 bytes
}

TEST_CASE("a body that comes at the rate may take longer than its timeout", "[http][slow]")
{
    auto settings = short_times();
    settings.min_body_bytes_per_second = 100;
    running_server running(ok, settings);
    raw_client client(running.address());
    const auto began = clock_type::now();
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n");

    std::size_t sent = 0;
    for (; sent < 59'000 && clock_type::now() - began < 1s && !client.pause(); sent += 1'000)
        client.send(std::string(1'000, 'x'));
    client.send(std::string(60'000 - sent, 'x'));

    CHECK_THAT(client.read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("slow bodies that hold every connection make room for whoever comes", "[http][slow]")
{
    auto settings = short_times();
    settings.body_timeout = 60s; // longer than a response is waited for
    settings.connection_limit = 20;
    running_server running(ok, settings);
    std::vector<std::unique_ptr<raw_client>> slow;
    for (int i = 0; i < 20; ++i) {
        slow.push_back(std::make_unique<raw_client>(running.address()));
        slow.back()->send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nx");
    }
    REQUIRE(testing::eventually([&] { return running.server.connections() == 20; }));

    raw_client next(running.address());
    const auto response = next.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK_THAT(response, StartsWith("HTTP/1.1 200 "));
    CHECK(slow.front()->is_closed());
    CHECK(running.server.connections() == 20);
}

TEST_CASE("a slow header makes room before a body does", "[http][slow]")
{
    auto settings = short_times();
    settings.header_timeout = settings.body_timeout = 60s; // longer than a response is waited for
    settings.connection_limit = 2;
    running_server running(ok, settings);
    raw_client body(running.address()), header(running.address());
    body.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nx");
    header.send("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ");
    REQUIRE(testing::eventually([&] { return running.server.connections() == 2; }));

    raw_client next(running.address());
    const auto response = next.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK_THAT(response, StartsWith("HTTP/1.1 200 "));
    CHECK(header.is_closed());
    CHECK_THAT(body.send("y").read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("who was refused and goes on sending is the first to make room", "[http][slow]")
{
    auto settings = short_times();
    settings.header_timeout = 60s; // longer than a response is waited for
    settings.connection_limit = 2;
    http::server_hooks hooks;
    hooks.judge_header = [](const http::request& received) -> std::optional<http::response> {
        if (received.path == "/refused")
            return http::response(401, "text/plain", "");
        return std::nullopt;
    };
    running_server running(ok, settings, hooks);
    raw_client header(running.address()), refused(running.address());
    header.send("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ");
    refused.send("POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n");
    REQUIRE_THAT(refused.read_response(), StartsWith("HTTP/1.1 401 "));

    raw_client next(running.address());
    const auto response = next.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK_THAT(response, StartsWith("HTTP/1.1 200 "));
    CHECK_THAT(header.send("x\r\n\r\n").read_response(), StartsWith("HTTP/1.1 200 "));
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
