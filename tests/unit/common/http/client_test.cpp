#include "common/core/version.hpp"
#include "common/http/client.hpp"
#include "unit/common/http/running_server.hpp"
#include "unit/common/http/scripted_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using http::exchange_error;
using std::chrono::milliseconds;
using testing::running_server;
using testing::script;
using testing::scripted_server;

namespace {

http::client_request get(std::string url)
{
    http::client_request outgoing;
    outgoing.url = std::move(url);
    outgoing.deadline = std::chrono::seconds(5);
    return outgoing;
}

http::client_response fetch(http::client& client, http::client_request outgoing)
{
    return testing::await(client.send(std::move(outgoing)));
}

http::client_response fetch_once(const scripted_server& server, http::client_settings settings = {})
{
    http::client client(testing::test_host(), std::move(settings));
    return fetch(client, get(server.url()));
}

const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

} // namespace

TEST_CASE("a client sends what it was given and what is missing", "[http]")
{
    scripted_server server({script({ok})});
    http::client client(testing::test_host(), {});
    auto outgoing = get(server.url("/p%20q?r=s"));
    outgoing.method = "POST";
    outgoing.headers = {{"X-One", "1"}};
    outgoing.body = "hello";

    const auto response = fetch(client, std::move(outgoing));

    CHECK(response.error == exchange_error::none);
    CHECK(response.status == 200);
    CHECK(response.body == "ok");
    CHECK(response.header("content-length") == "2");
    REQUIRE(server.requests().size() == 1);
    CHECK(server.requests()[0] == "POST /p%20q?r=s HTTP/1.1\r\nHost: " + server.address().text() +
                                      "\r\nUser-Agent: tempinbox/" + std::string(version()) +
                                      "\r\nX-One: 1\r\nContent-Length: 5\r\n\r\nhello");
}

TEST_CASE("connections are kept and used again", "[http]")
{
    running_server running([](http::request& received) -> awaitable<http::response> {
        co_return http::response(200, "text/plain", received.path);
    });
    http::client client(testing::test_host(), {});

    for (const auto* path : {"/1", "/2", "/3"})
        CHECK(fetch(client, get(running.url(path))).body == path);

    CHECK(running.server.connections() == 1);
}

TEST_CASE("a kept connection that died is replaced once", "[http]")
{
    // The first connection answers once and then closes on the second request, so that the client
    // finds out only after writing.
    scripted_server server({script({ok, ""}, false), script({ok})});
    http::client client(testing::test_host(), {});
    fetch(client, get(server.url()));

    const auto response = fetch(client, get(server.url()));

    CHECK(response.error == exchange_error::none);
    CHECK(response.body == "ok");
    CHECK(server.connections() == 2);
    CHECK(server.requests().size() == 3);
}

TEST_CASE("what may not be sent twice fails with a kept connection that died", "[http]")
{
    scripted_server server({script({ok, ""}, false), script({ok})});
    http::client client(testing::test_host(), {});
    fetch(client, get(server.url()));
    auto once = get(server.url());
    once.may_repeat = false;

    const auto response = fetch(client, std::move(once));

    CHECK(response.error == exchange_error::closed);
    CHECK(response.is_sent);
    CHECK(server.requests().size() == 2);
    CHECK(fetch(client, get(server.url())).body == "ok");
}

TEST_CASE("a connection the server closed while idle is not used again", "[http]")
{
    scripted_server server({script({ok}, false), script({ok})});
    http::client client(testing::test_host(), {});
    fetch(client, get(server.url()));
    testing::eventually([] { return false; }, milliseconds(10));

    CHECK(fetch(client, get(server.url())).body == "ok");
    CHECK(server.requests().size() == 2);
}

TEST_CASE("a fresh connection that dies is not tried again", "[http]")
{
    scripted_server server({script({""}, false), script({ok})});

    const auto response = fetch_once(server);

    CHECK(response.error == exchange_error::closed);
    CHECK(response.status == 0);
    CHECK(server.connections() == 1);
}

TEST_CASE("a reused connection that dies inside a response is not tried again", "[http]")
{
    scripted_server server(
        {script({ok, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"}, false), script({ok})});
    http::client client(testing::test_host(), {});
    fetch(client, get(server.url()));

    const auto response = fetch(client, get(server.url()));

    CHECK(response.error == exchange_error::malformed);
    CHECK(response.status == 200);
    CHECK(response.body == "half");
    CHECK(server.connections() == 1);
}

TEST_CASE("Connection: close and idle time end a kept connection", "[http]")
{
    const std::string last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    scripted_server server({script({last}), script({ok}), script({ok})});
    http::client_settings settings;
    settings.idle_timeout = milliseconds(60);
    http::client client(testing::test_host(), settings);

    fetch(client, get(server.url()));
    fetch(client, get(server.url()));
    CHECK(server.connections() == 2);
    testing::eventually([] { return false; }, milliseconds(150));
    fetch(client, get(server.url()));
    CHECK(server.connections() == 3);
}

TEST_CASE("responses are read as RFC 9112 frames them", "[http]")
{
    const auto body_of = [](const std::string& bytes, bool stays_open = true) {
        scripted_server server({script({bytes}, stays_open)});
        const auto response = fetch_once(server);
        CHECK(response.error == exchange_error::none);
        return std::to_string(response.status) + " " + response.body;
    };

    CHECK(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n") == "200 abc");
    CHECK(body_of("HTTP/1.0 200 OK\r\n\r\nuntil the end", false) == "200 until the end");
    CHECK(body_of("HTTP/1.1 204 No Content\r\n\r\n") == "204 ");
    CHECK(body_of("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n") == "304 ");
    CHECK(body_of("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" +
                  ok) == "200 ok");
    CHECK(body_of("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n") ==
          "302 ");
}

TEST_CASE("the answer to HEAD has no body and the connection goes on", "[http]")
{
    scripted_server server({script({"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", ok})});
    http::client client(testing::test_host(), {});
    auto head = get(server.url());
    head.method = "HEAD";

    CHECK(fetch(client, head).status == 200);
    CHECK(fetch(client, get(server.url())).body == "ok");
    CHECK(server.connections() == 1);
}

TEST_CASE("a response that is too large or malformed keeps its status", "[http]")
{
    http::client_settings settings;
    settings.body_limit = 10;
    settings.header_limit = 200;
    const auto response_to = [&settings](const std::string& bytes) {
        scripted_server server({script({bytes}, false)});
        return fetch_once(server, settings);
    };

    const auto large =
        response_to("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + std::string(20, 'x'));
    CHECK(large.error == exchange_error::too_large);
    CHECK(large.status == 200);
    CHECK(large.body == std::string(10, 'x'));

    const auto chunked =
        response_to("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" +
                    std::string(20, 'x') + "\r\n0\r\n\r\n");
    CHECK(chunked.error == exchange_error::too_large);
    CHECK(chunked.status == 201);

    const auto header = response_to("HTTP/1.1 200 OK\r\nX: " + std::string(300, 'x') + "\r\n\r\n");
    CHECK(header.error == exchange_error::too_large);
    CHECK(header.status == 200);

    const auto broken = response_to("HTTP/1.1 200 OK\r\nno colon\r\n\r\n");
    CHECK(broken.error == exchange_error::malformed);
    CHECK(broken.status == 200);

    const auto nonsense = response_to("220 mail.example ESMTP\r\n");
    CHECK(nonsense.error == exchange_error::malformed);
    CHECK(nonsense.status == 0);
}

TEST_CASE("the deadline is over the whole exchange", "[http]")
{
    scripted_server silent(
        {script({""}), script({"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"})});
    http::client client(testing::test_host(), {});
    auto outgoing = get(silent.url());
    outgoing.deadline = milliseconds(50);

    const auto first = fetch(client, outgoing);
    const auto second = fetch(client, outgoing);

    CHECK(first.error == exchange_error::timeout);
    CHECK(first.status == 0);
    CHECK(first.is_sent);
    CHECK(first.took >= milliseconds(45));
    CHECK(second.error == exchange_error::timeout);
    CHECK(second.status == 200);
}

TEST_CASE("connection failures are values", "[http]")
{
    host_port nobody;
    {
        scripted_server gone({});
        nobody = gone.address();
    }
    http::client client(testing::test_host(), {});

    const auto refused = fetch(client, get("http://" + nobody.text() + "/"));

    CHECK(refused.error == exchange_error::connect);
    CHECK(refused.cause == boost::asio::error::connection_refused);
    CHECK_FALSE(refused.is_sent);
    CHECK_THAT(refused.error_text, !Contains("127.0.0.1"));
    CHECK(fetch(client, get("not a url")).error == exchange_error::malformed);
    auto split = get("http://" + nobody.text() + "/");
    split.headers = {{"X-A", "b\r\nX-C: d"}};
    CHECK(fetch(client, split).error == exchange_error::malformed);
}

namespace {

using addresses = std::vector<boost::asio::ip::address>;

awaitable<addresses> resolve_to_loopback(std::string name, std::vector<std::string>& resolved)
{
    resolved.push_back(name);
    if (name == "nowhere.test")
        throw boost::system::system_error(boost::asio::error::host_not_found);
    addresses found;
    found.push_back(boost::asio::ip::make_address("127.0.0.1"));
    co_return found;
}

awaitable<addresses> resolve_when_cancelled(boost::asio::steady_timer& never, bool& is_over)
{
    boost::system::error_code ignored;
    co_await never.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    is_over = true;
    co_return addresses();
}

struct load
{
    int under_way = 0;
    int max_under_way = 0;
};

awaitable<http::response> respond_after_5_ms(load& seen)
{
    seen.max_under_way = std::max(seen.max_under_way, ++seen.under_way);
    boost::asio::steady_timer timer(testing::test_host().loop(), milliseconds(5));
    co_await timer.async_wait(boost::asio::use_awaitable);
    --seen.under_way;
    co_return http::response(200, "text/plain", "ok");
}

} // namespace

TEST_CASE("names go to the resolver, literals do not", "[http]")
{
    scripted_server server({script({ok}), script({ok})});
    std::vector<std::string> resolved;
    http::client_settings settings;
    settings.resolve = [&resolved](const std::string& name) {
        return resolve_to_loopback(name, resolved);
    };
    http::client client(testing::test_host(), settings);
    const auto port = std::to_string(server.address().port);

    CHECK(fetch(client, get("http://some.test:" + port + "/")).body == "ok");
    CHECK_THAT(server.requests().back(), Contains("Host: some.test:" + port + "\r\n"));
    CHECK(fetch(client, get(server.url())).body == "ok");
    const auto unknown = fetch(client, get("http://nowhere.test:" + port + "/"));

    CHECK(unknown.error == exchange_error::resolve);
    CHECK(unknown.cause == boost::asio::error::host_not_found);
    CHECK(resolved == std::vector<std::string>{"some.test", "nowhere.test"});
}

TEST_CASE("a slow resolver does not outlast the deadline", "[http]")
{
    http::client_settings settings;
    boost::asio::steady_timer never(testing::test_host().loop(), std::chrono::hours(1));
    bool is_over = false;
    settings.resolve = [&](const std::string&) { return resolve_when_cancelled(never, is_over); };
    http::client client(testing::test_host(), settings);
    auto outgoing = get("http://slow.test/");
    outgoing.deadline = milliseconds(40);

    CHECK(fetch(client, outgoing).error == exchange_error::timeout);

    never.cancel();
    CHECK(testing::eventually([&] { return is_over; }));
}

TEST_CASE("an address that must not be called is not dialled", "[http]")
{
    scripted_server server({script({ok}), script({ok})});
    const auto port = std::to_string(server.address().port);
    http::client_settings settings;
    settings.allow_address = [](const boost::asio::ip::address& address) {
        return address.to_string() != "127.0.0.1";
    };
    settings.resolve = [](const std::string&) -> awaitable<std::vector<boost::asio::ip::address>> {
        std::vector<boost::asio::ip::address> found;
        found.push_back(boost::asio::ip::make_address("127.0.0.2"));
        found.push_back(boost::asio::ip::make_address("127.0.0.1"));
        co_return found;
    };
    http::client client(testing::test_host(), settings);

    CHECK(fetch(client, get("http://rebound.test:" + port + "/")).error ==
          exchange_error::refused_address);
    CHECK(fetch(client, get("http://127.0.0.1:" + port + "/")).error ==
          exchange_error::refused_address);
    CHECK(server.connections() == 0);
}

TEST_CASE("the next address is tried where the first does not answer", "[http]")
{
    scripted_server server({script({ok})});
    http::client_settings settings;
    settings.resolve = [](const std::string&) -> awaitable<std::vector<boost::asio::ip::address>> {
        std::vector<boost::asio::ip::address> found;
        found.push_back(boost::asio::ip::make_address("127.0.0.3"));
        found.push_back(boost::asio::ip::make_address("127.0.0.1"));
        co_return found;
    };
    http::client client(testing::test_host(), settings);

    CHECK(
        fetch(client, get("http://two.test:" + std::to_string(server.address().port) + "/")).body ==
        "ok");
}

TEST_CASE("of addresses that all fail the first says why", "[http]")
{
    host_port nobody;
    {
        scripted_server gone({});
        nobody = gone.address();
    }
    http::client_settings settings;
    settings.connect_timeout = milliseconds(500);
    settings.resolve = [](const std::string&) -> awaitable<std::vector<boost::asio::ip::address>> {
        std::vector<boost::asio::ip::address> found;
        found.push_back(boost::asio::ip::make_address("127.0.0.1"));
        found.push_back(boost::asio::ip::make_address("2001:db8::1"));
        co_return found;
    };
    http::client client(testing::test_host(), settings);

    const auto failed = fetch(client, get("http://two.test:" + std::to_string(nobody.port) + "/"));

    CHECK(failed.error == exchange_error::connect);
    CHECK(failed.cause == boost::asio::error::connection_refused);
}

TEST_CASE("connections a host are bounded and waiters served in turn", "[http]")
{
    load seen;
    int done = 0;
    running_server running([&seen](http::request&) { return respond_after_5_ms(seen); });
    http::client_settings settings;
    settings.connections_per_host = 2;
    http::client client(testing::test_host(), settings);

    for (int i = 0; i < 10; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), client.send(get(running.url("/"))),
                              [&done](std::exception_ptr, const http::client_response& response) {
                                  done += response.status == 200 ? 1 : 0;
                              });

    CHECK(testing::eventually([&] { return done == 10; }));
    CHECK(seen.max_under_way == 2);
    CHECK(running.server.connections() == 2);
}

TEST_CASE("who waits for a connection waits no longer than its deadline", "[http]")
{
    scripted_server server({script({""})});
    http::client_settings settings;
    settings.connections_per_host = 1;
    http::client client(testing::test_host(), settings);
    bool is_done = false;
    auto first = get(server.url());
    first.deadline = milliseconds(150);
    boost::asio::co_spawn(
        testing::test_host().loop(), client.send(first),
        [&is_done](std::exception_ptr, const http::client_response&) { is_done = true; });
    auto second = get(server.url());
    second.deadline = milliseconds(30);

    const auto waited = fetch(client, std::move(second));

    CHECK(waited.error == exchange_error::timeout);
    CHECK_THAT(waited.error_text, Contains("no connection"));
    CHECK(testing::eventually([&] { return is_done; }));
    CHECK(server.connections() == 1);
}
