#include "common/http/client.hpp"
#include "unit/common/http/running_server.hpp"
#include "unit/common/http/scripted_server.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::script;
using testing::scripted_server;

namespace {

// Connections that respond several times.
std::vector<script> patient(std::size_t connections, std::size_t responses = 5)
{
    const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    return {connections, script(std::vector<std::string>(responses, ok))};
}

bool is_answered(http::client& client, const std::string& url, const std::string& pool)
{
    http::client_request outgoing;
    outgoing.url = url;
    outgoing.pool = pool;
    return testing::await(client.send(std::move(outgoing))).status == 200;
}

} // namespace

TEST_CASE("a pool uses its own connections only", "[http]")
{
    scripted_server server(patient(5));
    http::client client(testing::test_host(), {});

    for (const auto* pool : {"one", "two", "one", "two", ""})
        CHECK(is_answered(client, server.url(), pool));

    CHECK(server.connections() == 3);
}

TEST_CASE("the idle connections of all hosts are bounded, the one that lay longest goes", "[http]")
{
    scripted_server server(patient(5));
    http::client_settings settings;
    settings.idle_connections = 2;
    http::client client(testing::test_host(), settings);

    // "two" was used before "one" was used again.
    for (const auto* pool : {"one", "two", "one", "three", "one", "three"})
        CHECK(is_answered(client, server.url(), pool));
    CHECK(server.connections() == 3);
    CHECK(is_answered(client, server.url(), "two"));
    CHECK(server.connections() == 4);
}

TEST_CASE("a client that ends closes what lay idle", "[http]")
{
    testing::running_server running([](http::request&) -> awaitable<http::response> {
        co_return http::response(200, "text/plain", "hello");
    });
    {
        http::client client(testing::test_host(), {});
        CHECK(is_answered(client, running.url("/"), "one"));
        CHECK(is_answered(client, running.url("/"), "two"));
        CHECK(running.server.connections() == 2);
    }
    CHECK(testing::eventually([&] { return running.server.connections() == 0; }));
}

TEST_CASE("a connection past its age is not kept", "[http]")
{
    // More responses than fit into that age on any machine.
    scripted_server server(patient(5, 1'000));
    http::client_settings settings;
    settings.connection_max_age = std::chrono::milliseconds(1);
    http::client client(testing::test_host(), settings);
    CHECK(is_answered(client, server.url(), "one"));
    // A connection may be reused until its maximum age, and never after it.
    CHECK(testing::eventually(
        [&] { return is_answered(client, server.url(), "one") && server.connections() > 1; }));

    settings.connection_max_age = std::chrono::hours(1);
    scripted_server other(patient(5));
    http::client patient_client(testing::test_host(), settings);
    for (int i = 0; i < 3; ++i)
        CHECK(is_answered(patient_client, other.url(), "one"));
    CHECK(other.connections() == 1);
}
