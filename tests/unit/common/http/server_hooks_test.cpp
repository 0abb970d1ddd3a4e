#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using Catch::StartsWith;
using testing::raw_client;
using testing::running_server;

namespace {

// Refuses requests without the header X-Pass by their header.
http::server_hooks asking_for_a_pass()
{
    http::server_hooks hooks;
    hooks.judge_header = [](const http::request& received) -> std::optional<http::response> {
        if (received.header("X-Pass"))
            return std::nullopt;
        return http::error_response(401, "no pass for " + received.method + " " + received.path);
    };
    return hooks;
}

http::server_hooks marking_own_responses()
{
    http::server_hooks hooks;
    hooks.complete_own_response = [](const http::request&, http::response& response) {
        response.set("X-Own", "yes");
    };
    return hooks;
}

awaitable<http::response> echo(http::request& received)
{
    co_return http::response(200, "text/plain", received.body);
}

http::server_settings large_bodies()
{
    http::server_settings settings;
    settings.body_limit = 100'000'000;
    settings.name = "hooks";
    return settings;
}

http::server_settings small_limits()
{
    http::server_settings settings;
    settings.header_limit = 1'024;
    settings.header_timeout = std::chrono::milliseconds(60);
    settings.name = "hooks";
    return settings;
}

std::string own_response_to(const std::string& bytes, const http::handler& handle = echo)
{
    running_server running(handle, small_limits(), marking_own_responses());
    raw_client client(running.address());
    return client.send(bytes).read_response();
}

} // namespace

TEST_CASE("who is refused by the header is answered before the body comes", "[http]")
{
    int handled = 0;
    const auto counting = [&handled](http::request& received) {
        ++handled;
        return echo(received);
    };
    running_server running(counting, large_bodies(), asking_for_a_pass());
    for (const auto* framing :
         {"Content-Length: 60000000", "Content-Length: 99999999999", "Transfer-Encoding: chunked",
          "Content-Length: 60000000\r\nExpect: 100-continue"}) {
        CAPTURE(framing);
        raw_client client(running.address());

        const auto response =
            client.send(std::string("POST /a HTTP/1.1\r\nHost: h\r\n") + framing + "\r\n\r\n")
                .read_response();

        CHECK_THAT(response, StartsWith("HTTP/1.1 401 ") && Contains("no pass for POST /a"));
        CHECK_THAT(response,
                   Contains("\r\nConnection: close\r\n") && Contains("\r\nX-Request-Id: "));
    }
    CHECK(handled == 0);
}

TEST_CASE("a refusal by the header leaves the connection usable where nothing is left to read",
          "[http]")
{
    running_server running(echo, large_bodies(), asking_for_a_pass());
    raw_client client(running.address());

    CHECK_THAT(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response(),
               StartsWith("HTTP/1.1 401 "));
    CHECK_THAT(
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").read_response(),
        StartsWith("HTTP/1.1 401 "));
    CHECK_THAT(client.send("POST / HTTP/1.1\r\nHost: h\r\nX-Pass: 1\r\nContent-Length: 2\r\n\r\nhi")
                   .read_response(),
               StartsWith("HTTP/1.1 200 ") && Contains("\r\n\r\nhi"));
}

TEST_CASE("the owner completes each answer that the server gives by itself", "[http]")
{
    const auto throwing = [](http::request&) -> awaitable<http::response> {
        throw std::runtime_error("a bug");
    };
    const auto without_database = [](http::request&) -> awaitable<http::response> {
        throw dependency_error("away");
    };
    const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n";

    CHECK_THAT(own_response_to("nonsense\r\n\r\n"),
               StartsWith("HTTP/1.1 400 ") && Contains("\r\nX-Own: yes\r\n"));
    CHECK_THAT(own_response_to(get + "Host: i\r\n\r\n"),
               StartsWith("HTTP/1.1 400 ") && Contains("\r\nX-Own: yes\r\n"));
    CHECK_THAT(own_response_to(get + "X: " + std::string(1'100, 'x')),
               StartsWith("HTTP/1.1 431 ") && Contains("\r\nX-Own: yes\r\n"));
    CHECK_THAT(own_response_to(get + "X"),
               StartsWith("HTTP/1.1 408 ") && Contains("\r\nX-Own: yes\r\n"));
    CHECK_THAT(own_response_to(get + "Transfer-Encoding: gzip\r\n\r\n"),
               StartsWith("HTTP/1.1 501 ") && Contains("\r\nX-Own: yes\r\n"));
    CHECK_THAT(own_response_to(get + "\r\n", throwing),
               StartsWith("HTTP/1.1 500 ") && Contains("\r\nX-Own: yes\r\n"));
    CHECK_THAT(own_response_to(get + "\r\n", without_database),
               StartsWith("HTTP/1.1 503 ") && Contains("\r\nX-Own: yes\r\n"));
    CHECK_THAT(own_response_to(get + "\r\n"), StartsWith("HTTP/1.1 200 ") && !Contains("X-Own"));
}

TEST_CASE("the owner completes the refusal of a connection that is one too many", "[http]")
{
    auto settings = small_limits();
    settings.connections_per_address = 1;
    running_server running(echo, settings, marking_own_responses());
    raw_client first(running.address());
    REQUIRE(testing::eventually([&] { return running.server.connections() == 1; }));

    raw_client second(running.address());

    CHECK_THAT(second.read_to_end(), StartsWith("HTTP/1.1 503 ") && Contains("\r\nX-Own: yes\r\n"));
}
