#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

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

struct tls_server
{
    testing::scratch_folder folder;
    testing::running_server running;

    explicit tls_server(std::size_t limit = 100) : running(ok, settings(limit)) {}

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
