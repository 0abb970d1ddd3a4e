#include "unit/common/http/hostile_server.hpp"

#include "common/http/client.hpp"
#include "unit/common/http/scripted_server.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using http::exchange_error;
using std::chrono::milliseconds;
using testing::hostile_server;

namespace {

constexpr std::size_t header_limit = 16 * 1024;
constexpr std::size_t body_limit = 64 * 1024;
// What the kernel buffers for a client that has stopped reading.
constexpr std::size_t kernel_buffers = 8 * 1024 * 1024;

// Uses the limits of webhooks.
http::client_response fetch(const std::string& url,
                            milliseconds deadline = std::chrono::seconds(10))
{
    http::client_settings settings;
    settings.header_limit = header_limit;
    settings.body_limit = body_limit;
    http::client client(testing::test_host(), settings);
    http::client_request outgoing;
    outgoing.method = "POST";
    outgoing.url = url;
    outgoing.body = "{}";
    outgoing.deadline = deadline;
    return testing::await(client.send(std::move(outgoing)), std::chrono::seconds(20));
}

// The client hung up and read no more than its limits and what was in flight.
void check_left(const hostile_server& server)
{
    CHECK(testing::eventually([&] { return server.is_left(); }));
    CHECK(server.bytes_sent() < header_limit + body_limit + kernel_buffers);
}

} // namespace

TEST_CASE("a body or header that drips is given up at the deadline of the whole exchange",
          "[http][hostile]")
{
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
    for (const auto& first :
         {head, std::string("HTTP/1.1 200 OK\r\nX-Slow: "), std::string("HTTP/1.1 200 O")}) {
        INFO(first);
        hostile_server server(first, "0", milliseconds(5));

        const auto response = fetch(server.url(), milliseconds(150));

        CHECK(response.error == exchange_error::timeout);
        CHECK_THAT(response.error_text, Contains("too long"));
        CHECK(response.took >= milliseconds(145));
        CHECK(response.took < milliseconds(10'000));
        check_left(server);
    }
}

TEST_CASE("headers without an end are cut at the limit", "[http][hostile]")
{
    std::string many;
    for (int i = 0; i < 50; ++i)
        many += "X-Header-" + std::to_string(i) + ": 0123456789\r\n";
    for (const auto& again : {many, std::string(4096, 'a')}) {
        hostile_server server("HTTP/1.1 200 OK\r\nX-First: ", again);

        const auto response = fetch(server.url());

        CHECK(response.error == exchange_error::too_large);
        CHECK(response.status == 200);
        check_left(server);
    }
}

TEST_CASE("interim responses without an end are refused", "[http][hostile]")
{
    for (const auto* status :
         {"100 Continue", "102 Processing", "103 Early Hints", "199 Whatever"}) {
        INFO(status);
        hostile_server server("", std::string("HTTP/1.1 ") + status + "\r\nLink: x\r\n\r\n");

        const auto response = fetch(server.url());

        CHECK(response.error == exchange_error::malformed);
        CHECK_THAT(response.error_text, Contains("interim"));
        check_left(server);
    }
}

TEST_CASE("a body past the limit is cut, however it is framed", "[http][hostile]")
{
    const std::string block(16 * 1024, 'x');
    for (const auto* framing :
         {"Content-Length: 99999999999\r\n\r\n",
          "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", "Connection: close\r\n\r\n"}) {
        INFO(framing);
        hostile_server server(std::string("HTTP/1.1 200 OK\r\n") + framing, block);

        const auto response = fetch(server.url());

        CHECK(response.error == exchange_error::too_large);
        CHECK(response.status == 200);
        CHECK(response.body.size() == body_limit);
        check_left(server);
    }
}

TEST_CASE("chunk headers and trailers without an end are cut", "[http][hostile]")
{
    for (const auto* first :
         {"5;", "5;name=\"", "5", "0\r\nX-Trailer: ", "3\r\nabc\r\n0\r\nX-Trailer: "}) {
        INFO(first);
        hostile_server server(std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") +
                                  first,
                              std::string(4096, '0'));

        const auto response = fetch(server.url());

        CHECK(response.status == 200);
        CHECK((response.error == exchange_error::too_large ||
               response.error == exchange_error::malformed));
        check_left(server);
    }
}

TEST_CASE("framing that cannot be is malformed", "[http][hostile]")
{
    for (const auto* framing :
         {"Content-Length: 99999999999999999999\r\n\r\n", "Content-Length: -1\r\n\r\n",
          "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
          "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
          "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
          "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"}) {
        INFO(framing);
        testing::scripted_server server(
            {testing::script({std::string("HTTP/1.1 200 OK\r\n") + framing})});

        const auto response = fetch(server.url());

        CHECK(response.error == exchange_error::malformed);
        CHECK(server.connections() == 1);
    }
}

TEST_CASE("a connection that closes midway keeps the status it had", "[http][hostile]")
{
    const auto response_to = [](const std::string& bytes) {
        testing::scripted_server server({testing::script({bytes}, false)});
        const auto response = fetch(server.url());
        CHECK(response.error != exchange_error::none);
        CHECK(server.connections() == 1);
        return response.status;
    };

    CHECK(response_to("") == 0);
    CHECK(response_to("HTTP/1.1 2") == 0);
    CHECK(response_to("HTTP/1.1 200 OK\r\nContent-Le") == 200);
    CHECK(response_to("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc") == 200);
    CHECK(response_to("HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab") == 503);
}
