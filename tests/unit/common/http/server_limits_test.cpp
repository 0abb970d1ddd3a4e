#include "common/http/router.hpp"
#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using Catch::StartsWith;
using std::chrono::milliseconds;
using testing::raw_client;
using testing::running_server;

namespace {

awaitable<http::response> ok(http::request& received)
{
    co_return received.body_too_large ? http::error_response(413, "too large")
                                      : http::response(200, "text/plain", received.body);
}

http::server_settings small_limits()
{
    http::server_settings settings;
    settings.header_limit = 1024;
    settings.body_limit = 100;
    settings.name = "small";
    return settings;
}

std::string response_to(const std::string& bytes,
                        const http::server_settings& settings = small_limits())
{
    running_server running(ok, settings);
    raw_client client(running.address());
    return client.send(bytes).read_to_end();
}

std::string post(std::string_view header, std::string_view body)
{
    return "POST / HTTP/1.1\r\nHost: h\r\n" + std::string(header) + "\r\n\r\n" + std::string(body);
}

} // namespace

TEST_CASE("malformed requests are answered 400 and the connection closes", "[http]")
{
    const char* const cases[] = {
        "nonsense\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
        "GET / HTTP/1.1\nHost: h\n\n",
        "GET / HTTP/2\r\nHost: h\r\n\r\n",
        "GET / of HTTP/2.0\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET relative HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\nx",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\nx",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    };
    for (const auto* bytes : cases) {
        CAPTURE(bytes);
        const auto response = response_to(bytes);
        CHECK_THAT(response, StartsWith("HTTP/1.1 400 Bad Request\r\n") &&
                                 Contains("\r\nConnection: close\r\n"));
        CHECK_THAT(response,
                   Contains("{\"statusCode\":400,\"error\":\"Bad Request\",\"message\":\"") &&
                       Contains("\r\nX-Request-Id: "));
    }
}

TEST_CASE("another version of HTTP is answered 505 and the connection closes", "[http]")
{
    for (const auto* bytes :
         {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", "GET /some/path HTTP/0.9\r\n\r\n"}) {
        CAPTURE(bytes);
        CHECK_THAT(response_to(bytes), StartsWith("HTTP/1.1 505 HTTP Version Not Supported\r\n") &&
                                           Contains("\r\nConnection: close\r\n"));
    }
}

TEST_CASE("transfer codings that are not known are said so", "[http]")
{
    CHECK_THAT(response_to(post("Transfer-Encoding: gzip", "")), StartsWith("HTTP/1.1 501 "));
    CHECK_THAT(response_to(post("Transfer-Encoding: gzip, chunked", "")),
               StartsWith("HTTP/1.1 501 "));
}

TEST_CASE("a header over the limit is answered 431", "[http]")
{
    const auto one_field =
        "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(1'100, 'x') + "\r\n\r\n";
    const auto long_target = "GET /" + std::string(1'100, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n";
    std::string many_fields = "GET / HTTP/1.1\r\nHost: h\r\n";
    while (many_fields.size() < 2'000)
        many_fields += "A: b\r\n";

    for (const auto& bytes : {one_field, long_target, many_fields})
        CHECK_THAT(response_to(bytes),
                   StartsWith("HTTP/1.1 431 Request Header Fields Too Large\r\n") &&
                       Contains("\"statusCode\":431"));
}

TEST_CASE("header fields that come one by one are bounded in their sum", "[http]")
{
    running_server running(ok, small_limits());
    raw_client client(running.address());
    client.send("GET / HTTP/1.1\r\nHost: h\r\n");

    bool is_answered = false;
    for (int i = 0; i < 40 && !is_answered; ++i)
        is_answered = client.send("X-Field: " + std::string(40, 'x') + "\r\n").pause();

    CHECK_THAT(client.read_to_end(), StartsWith("HTTP/1.1 431 "));
}

TEST_CASE("a body over the limit reaches the handler as such and the connection closes", "[http]")
{
    const std::string large(300'000, 'x');
    CHECK_THAT(response_to(post("Content-Length: 300000", large)),
               StartsWith("HTTP/1.1 413 ") && Contains("\r\nConnection: close\r\n"));
    CHECK_THAT(
        response_to(post("Transfer-Encoding: chunked", "493e0\r\n" + large + "\r\n0\r\n\r\n")),
        StartsWith("HTTP/1.1 413 "));
    CHECK_THAT(response_to(post("Content-Length: 99999999999", "")), StartsWith("HTTP/1.1 413 "));
    CHECK_THAT(response_to(post("Content-Length: 101\r\nExpect: 100-continue", "")),
               StartsWith("HTTP/1.1 413 "));
    CHECK_THAT(response_to(post("Content-Length: 100\r\nConnection: close", std::string(100, 'y'))),
               StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("a path is not found before its body is too large", "[http]")
{
    http::router paths;
    running_server running([&paths](http::request& received) { return paths.dispatch(received); },
                           small_limits());
    raw_client client(running.address());

    CHECK_THAT(client.send(post("Content-Length: 5000", "")).read_response(),
               StartsWith("HTTP/1.1 404 "));
}

TEST_CASE("a chunk head without end is malformed", "[http]")
{
    CHECK_THAT(response_to(post("Transfer-Encoding: chunked", "1;" + std::string(100'000, 'e'))),
               StartsWith("HTTP/1.1 400 "));
    CHECK_THAT(
        response_to(post("Transfer-Encoding: chunked", "0\r\nT: " + std::string(100'000, 'e'))),
        StartsWith("HTTP/1.1 400 "));
}

TEST_CASE("a header that takes too long is answered 408, an idle connection just closes", "[http]")
{
    auto settings = small_limits();
    settings.header_timeout = milliseconds(60);
    settings.idle_timeout = milliseconds(200);
    running_server running(ok, settings);

    raw_client slow(running.address());
    CHECK_THAT(slow.send("GET / HTTP/1.1\r\nHo").read_to_end(),
               StartsWith("HTTP/1.1 408 Request Timeout\r\n") && Contains("\"statusCode\":408"));

    raw_client idle(running.address());
    CHECK(idle.is_closed());

    raw_client kept(running.address());
    CHECK_THAT(kept.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response(),
               StartsWith("HTTP/1.1 200 "));
    CHECK(kept.is_closed());
}

TEST_CASE("a body that takes too long is answered 408", "[http]")
{
    auto settings = small_limits();
    settings.body_timeout = milliseconds(60);

    CHECK_THAT(response_to(post("Content-Length: 10", "abc"), settings),
               StartsWith("HTTP/1.1 408 "));
}

TEST_CASE("a client that does not read its answer is cut off", "[http]")
{
    auto settings = small_limits();
    settings.write_timeout = milliseconds(60);
    running_server running(
        [](http::request&) -> awaitable<http::response> {
            std::string body;
            body.resize(40'000'000, 'x');
            co_return http::response(200, "text/plain", std::move(body));
        },
        settings);
    raw_client client(running.address());
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    REQUIRE(testing::eventually([&] { return running.server.connections() == 1; }));

    client.reset();

    CHECK(testing::eventually([&] { return running.server.connections() == 0; }));
}

TEST_CASE("connections over the limit get 503 with Retry-After", "[http]")
{
    auto settings = small_limits();
    settings.connection_limit = 2;
    bool is_notified = false;
    running_server running(
        [&is_notified](http::request& received) {
            return received.path == "/held" ? testing::wait_for_hang_up(received, is_notified)
                                            : ok(received);
        },
        settings);
    raw_client first(running.address());
    raw_client second(running.address());
    for (auto* busy : {&first, &second})
        busy->send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n").pause();
    REQUIRE(running.server.connections() == 2);

    raw_client third(running.address());
    const auto refusal = third.read_to_end();
    first.close();
    REQUIRE(testing::eventually([&] { return running.server.connections() == 1; }));
    raw_client fourth(running.address());
    const auto response = fourth.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK_THAT(refusal, StartsWith("HTTP/1.1 503 ") && Contains("\r\nRetry-After: 1\r\n") &&
                            Contains("\"statusCode\":503"));
    CHECK_THAT(refusal, Contains("\r\nConnection: close\r\n") && Contains("\r\nX-Request-Id: "));
    CHECK_THAT(response, StartsWith("HTTP/1.1 200 "));
}
