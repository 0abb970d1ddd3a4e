#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <catch2/catch.hpp>

#include <openssl/ssl.h>

#include <deque>

using namespace tempinbox;
using namespace std::chrono_literals;
namespace ssl = boost::asio::ssl;
using boost::asio::ip::tcp;

namespace {

awaitable<http::response> ok(http::request&)
{
    co_return http::response(200, "text/plain", "ok");
}

// The result of a handshake: the version, and the protocol chosen from those offered.
struct handshake
{
    bool is_done = false;
    std::string version;
    std::string protocol;
};

handshake shake_hands(const host_port& server, int newest, std::string_view offered)
{
    ssl::context context(ssl::context::tls_client);
    SSL_CTX_set_security_level(context.native_handle(), 0); // old versions need it
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.native_handle(), newest);
    SSL_CTX_set_alpn_protos(context.native_handle(),
                            reinterpret_cast<const unsigned char*>(offered.data()),
                            static_cast<unsigned>(offered.size()));
    auto& loop = testing::test_host().loop();
    ssl::stream<tcp::socket> stream(loop, context);
    stream.next_layer().connect({boost::asio::ip::make_address(server.host), server.port});

    handshake outcome;
    bool is_over = false;
    stream.async_handshake(ssl::stream_base::client, [&](boost::system::error_code error) {
        is_over = true;
        outcome.is_done = !error;
    });
    testing::eventually([&] { return is_over; });
    if (!outcome.is_done)
        return outcome;
    outcome.version = SSL_get_version(stream.native_handle());
    const unsigned char* chosen = nullptr;
    unsigned length = 0;
    SSL_get0_alpn_selected(stream.native_handle(), &chosen, &length);
    if (length > 0)
        outcome.protocol.assign(reinterpret_cast<const char*>(chosen), length);
    return outcome;
}

// A client that reads only when it has written everything.
struct whole_exchange
{
    boost::system::error_code written;
    std::string received;
};

whole_exchange write_then_read(const host_port& server, const std::string& sent)
{
    ssl::context context(ssl::context::tls_client);
    auto& loop = testing::test_host().loop();
    ssl::stream<tcp::socket> stream(loop, context);
    stream.next_layer().connect({boost::asio::ip::make_address(server.host), server.port});

    whole_exchange outcome;
    bool is_over = false;
    const auto end = [&](boost::system::error_code, std::size_t) { is_over = true; };
    const auto read = [&](boost::system::error_code error, std::size_t) {
        outcome.written = error;
        boost::asio::async_read(stream, boost::asio::dynamic_buffer(outcome.received), end);
    };
    stream.async_handshake(ssl::stream_base::client, [&](boost::system::error_code) {
        boost::asio::async_write(stream, boost::asio::buffer(sent), read);
    });
    testing::eventually([&] { return is_over; });
    return outcome;
}

struct tls_server
{
    testing::scratch_folder folder;
    testing::running_server running;

    explicit tls_server(std::size_t limit = 100, http::server_hooks hooks = {})
        : running(ok, settings(limit), std::move(hooks))
    {}

    http::server_settings settings(std::size_t limit)
    {
        const auto pair = testing::make_self_signed("DNS:good.test");
        http::server_settings chosen;
        chosen.certificate_file = folder.write("certificate.pem", pair.certificate);
        chosen.key_file = folder.write("key.pem", pair.key);
        chosen.connection_limit = limit;
        return chosen;
    }
};

} // namespace

TEST_CASE("a server speaks TLS 1.2 and 1.3, nothing older", "[http][tls]")
{
    tls_server server;

    CHECK(shake_hands(server.running.address(), TLS1_3_VERSION, "").version == "TLSv1.3");
    CHECK(shake_hands(server.running.address(), TLS1_2_VERSION, "").version == "TLSv1.2");
    CHECK_FALSE(shake_hands(server.running.address(), TLS1_1_VERSION, "").is_done);
    CHECK_FALSE(shake_hands(server.running.address(), TLS1_VERSION, "").is_done);
}

TEST_CASE("of the protocols a client offers HTTP/1.1 is chosen", "[http][tls]")
{
    tls_server server;

    CHECK(shake_hands(server.running.address(), TLS1_3_VERSION, "\x02h2\x08http/1.1").protocol ==
          "http/1.1");
    CHECK(shake_hands(server.running.address(), TLS1_3_VERSION, "").protocol.empty());
    CHECK(shake_hands(server.running.address(), TLS1_3_VERSION, "\x02h2").protocol.empty());
}

TEST_CASE("who is refused by the header and sends the body all the same sees the refusal",
          "[http][tls]")
{
    http::server_hooks hooks;
    hooks.judge_header = [](const http::request&) -> std::optional<http::response> {
        return http::response(401, "text/plain", "no key");
    };
    const tls_server server(100, hooks);

    const auto exchanged = write_then_read(
        server.running.address(),
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 600000\r\n\r\n" + std::string(600'000, 'x'));

    CHECK_FALSE(exchanged.written);
    CHECK_THAT(exchanged.received, Catch::StartsWith("HTTP/1.1 401 "));
}

TEST_CASE("handshakes that do not come keep nobody out of a full server", "[http][tls]")
{
    const tls_server server(3);
    std::deque<testing::raw_client> silent;
    for (int i = 0; i < 3; ++i)
        silent.emplace_back(server.running.address());
    REQUIRE(testing::eventually([&] { return server.running.server.connections() == 3; }));

    CHECK(shake_hands(server.running.address(), TLS1_3_VERSION, "").is_done);

    CHECK(silent[0].is_closed());
    CHECK_FALSE(silent[1].is_closed(0ms));
}
