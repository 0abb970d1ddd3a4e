#include "common/http/router.hpp"
#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"

#include <boost/asio/steady_timer.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using testing::raw_client;
using testing::running_server;
using testing::wait_for_hang_up;

namespace {

// Returns what the server understood.
awaitable<http::response> echo(http::request& received)
{
    std::string text = received.method + " " + received.path;
    for (const auto& [name, content] : received.query)
        text += " " + name + "=" + content;
    text += " [" + received.body + "]";
    co_return http::response(200, "text/plain", text);
}

awaitable<http::response> break_down(http::request& received)
{
    if (received.path == "/dependency")
        throw dependency_error("PostgreSQL at 10.1.2.3 is away");
    throw std::runtime_error("secret detail");
    co_return http::response();
}

awaitable<http::response> wait_a_little(http::request& received)
{
    boost::asio::steady_timer timer(testing::test_host().loop(), std::chrono::milliseconds(20));
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return http::response(200, "text/plain", received.path);
}

} // namespace

TEST_CASE("a server answers a request and keeps the connection", "[http]")
{
    running_server running(echo);
    raw_client client(running.address());

    const auto first =
        client.send("GET /a%20b?x=1&y=%32 HTTP/1.1\r\nHost: h\r\n\r\n").read_response();
    const auto second = client.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                            .read_response();

    CHECK_THAT(first,
               Contains("HTTP/1.1 200 OK\r\n") && Contains("\r\nContent-Type: text/plain\r\n"));
    CHECK_THAT(first, Contains("\r\nDate: ") && Contains(" GMT\r\n") && !Contains("Connection:"));
    CHECK_THAT(first, Catch::EndsWith("\r\n\r\nGET /a b x=1 y=2 []"));
    CHECK_THAT(second, Catch::EndsWith("POST /p [hello]"));
    CHECK(running.server.connections() == 1);
}

TEST_CASE("requests sent at once are answered in order", "[http]")
{
    running_server running(wait_a_little);
    raw_client client(running.address());

    client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET /3 "
                "HTTP/1.1\r\nHost: h\r\n\r\n");

    CHECK_THAT(client.read_response(), Catch::EndsWith("/1"));
    CHECK_THAT(client.read_response(), Catch::EndsWith("/2"));
    CHECK_THAT(client.read_response(), Catch::EndsWith("/3"));
}

TEST_CASE("a request may come byte by byte", "[http]")
{
    running_server running(echo);
    raw_client client(running.address());

    for (const char c :
         std::string_view("\r\nPOST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"))
        client.send(std::string_view(&c, 1)).pause();

    CHECK_THAT(client.read_response(), Catch::EndsWith("POST /slow [abc]"));
}

TEST_CASE("Connection: close and HTTP/1.0 close the connection", "[http]")
{
    running_server running(echo);

    raw_client asked(running.address());
    CHECK_THAT(asked.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").read_to_end(),
               Contains("\r\nConnection: close\r\n"));

    raw_client old(running.address());
    CHECK_THAT(old.send("GET / HTTP/1.0\r\n\r\n").read_to_end(),
               Contains("HTTP/1.1 200 OK") && Contains("\r\nConnection: close\r\n"));

    raw_client kept(running.address());
    CHECK_THAT(kept.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").read_response(),
               Contains("\r\nConnection: keep-alive\r\n"));
    CHECK_THAT(kept.send("GET /2 HTTP/1.0\r\n\r\n").read_to_end(), Contains("GET /2"));
}

TEST_CASE("HEAD leaves the body out but tells its length", "[http]")
{
    running_server running(echo);
    raw_client client(running.address());

    const auto head = client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n").read_response(false);
    const auto next = client.send("GET /y HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK_THAT(head, Contains("Content-Length: 10\r\n") && Catch::EndsWith("\r\n\r\n"));
    CHECK_THAT(next, Catch::StartsWith("HTTP/1.1 200 OK") && Catch::EndsWith("GET /y []"));
}

TEST_CASE("a chunked body is put together", "[http]")
{
    running_server running(echo);
    raw_client client(running.address());

    client.send(
        "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n");
    client.send("4\r\ndefg\r\n0\r\nTrailer: x\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n");

    CHECK_THAT(client.read_response(), Catch::EndsWith("POST /c [abcdefg]"));
    CHECK_THAT(client.read_response(), Catch::EndsWith("GET /next []"));
}

TEST_CASE("a client that waits for it gets 100 Continue", "[http]")
{
    running_server running(echo);
    raw_client client(running.address());

    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    CHECK(client.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK_THAT(client.send("ok").read_response(), Catch::EndsWith("[ok]"));

    client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nok");
    CHECK_THAT(client.read_response(), Catch::StartsWith("HTTP/1.1 200"));
}

TEST_CASE("every response carries a request id, the client's own where it is sane", "[http]")
{
    running_server running(echo);
    raw_client client(running.address());

    CHECK_THAT(
        client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: run-7.a_B\r\n\r\n").read_response(),
        Contains("\r\nX-Request-Id: run-7.a_B\r\n"));
    CHECK_THAT(
        client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: a b\r\n\r\n").read_response(),
        Contains("\r\nX-Request-Id: ") && !Contains("a b"));
    CHECK_THAT(client
                   .send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: " + std::string(129, 'x') +
                         "\r\n\r\n")
                   .read_response(),
               !Contains("xxx"));
}

TEST_CASE("what a handler throws becomes 500 without details, a lost dependency 503", "[http]")
{
    running_server running(break_down);
    raw_client client(running.address());

    const auto bug = client.send("GET /bug HTTP/1.1\r\nHost: h\r\n\r\n").read_response();
    const auto away = client.send("GET /dependency HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK_THAT(bug, Catch::StartsWith("HTTP/1.1 500 ") && Contains("\"statusCode\":500") &&
                        !Contains("secret detail"));
    CHECK_THAT(away, Catch::StartsWith("HTTP/1.1 503 ") && Contains("\r\nRetry-After: 1\r\n") &&
                         !Contains("10.1.2.3"));
}

TEST_CASE("a response cannot be split by what a handler puts into a header", "[http]")
{
    running_server running([](http::request&) -> awaitable<http::response> {
        http::response response(200, "text/plain", "x");
        response.set("X-Name", "a\r\nX-Evil: 1")
            .set("Content-Length", "99")
            .set("Connection", "close");
        co_return response;
    });
    raw_client client(running.address());

    const auto response = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK_THAT(response, Contains("X-Name: a  X-Evil: 1\r\n") &&
                             Contains("Content-Length: 1\r\n") && !Contains("Length: 99"));
}

TEST_CASE("answers without content have no length", "[http]")
{
    running_server running([](http::request&) -> awaitable<http::response> {
        http::response response;
        response.status = 204;
        co_return response;
    });
    raw_client client(running.address());

    CHECK_THAT(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response(),
               Catch::StartsWith("HTTP/1.1 204") && !Contains("Content-Length"));
}

TEST_CASE("a large answer arrives whole", "[http]")
{
    running_server running([](http::request&) -> awaitable<http::response> {
        co_return http::response(200, "text/plain", std::string(8 * 1024 * 1024, 'x'));
    });
    raw_client client(running.address());

    const auto response = client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n").read_response();

    CHECK(response.size() > 8 * 1024 * 1024);
    CHECK(response.back() == 'x');
}

TEST_CASE("a request in absolute form is one for its path", "[http]")
{
    running_server running(echo);
    raw_client client(running.address());

    CHECK_THAT(client.send("GET http://other.test/p?q=1 HTTP/1.1\r\nHost: other.test\r\n\r\n")
                   .read_response(),
               Contains("GET /p q=1 []"));
}

TEST_CASE("requests are measured by route, not by path", "[http]")
{
    http::router paths;
    paths.add("GET", "/v1/things/{id}", echo);
    http::server_settings settings;
    settings.name = "measured";
    running_server running([&paths](http::request& received) { return paths.dispatch(received); },
                           settings);
    raw_client client(running.address());

    client.send(
        "GET /v1/things/1 HTTP/1.1\r\nHost: h\r\n\r\nGET /v1/things/2 HTTP/1.1\r\nHost: h\r\n\r\n");
    client.send("BREW /none/3 HTTP/1.1\r\nHost: h\r\n\r\n");
    client.read_until("Not Found");

    CHECK(testing::eventually([] {
        const auto text = testing::test_host().metrics().text();
        return text.find("http_route=\"/v1/things/{id}\",server=\"measured\",le=\"60\"} 2") !=
                   std::string::npos &&
               text.find("http_server_request_duration_seconds_count{http_request_method=\"GET\","
                         "http_response_status_code=\"200\","
                         "http_route=\"/v1/things/{id}\",server=\"measured\"} 2") !=
                   std::string::npos &&
               text.find("http_request_method=\"_OTHER\",http_response_status_code=\"404\",http_"
                         "route=\"none\",server="
                         "\"measured\"} 1") != std::string::npos &&
               text.find("http_server_connections{server=\"measured\"} 1") != std::string::npos;
    }));
}

TEST_CASE("a handler hears when its client hangs up", "[http]")
{
    bool is_notified = false;
    running_server running([&is_notified](http::request& received) {
        return wait_for_hang_up(received, is_notified);
    });
    raw_client client(running.address());
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK_FALSE(testing::eventually([&] { return is_notified; }, std::chrono::milliseconds(50)));

    client.close();

    CHECK(testing::eventually([&] { return is_notified && running.server.connections() == 0; }));
}

TEST_CASE("an address in use is said at start", "[http]")
{
    running_server running(echo);
    http::server_settings settings;
    settings.listen = running.address();
    http::server second(testing::test_host(), settings, echo);

    CHECK_THROWS_WITH(second.start(), Contains(running.address().text()) && Contains("in use"));
}
