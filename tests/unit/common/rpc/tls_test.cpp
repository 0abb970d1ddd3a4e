// Calls between services over mutual TLS. Every name is 127.0.0.1.
#include "common/rpc/tls.hpp"

#include "common/http/client.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/log/captured_lines.hpp"
#include "unit/common/rpc/calls.hpp"

#include <boost/asio/ssl/context.hpp>

#include <catch2/catch.hpp>

#include <openssl/ssl.h>

using namespace tempinbox;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

namespace ssl = boost::asio::ssl;

const testing::self_signed& authority()
{
    static const auto made = testing::make_self_signed("DNS:authority.test");
    return made;
}

const testing::self_signed& other_authority()
{
    static const auto made = testing::make_self_signed("DNS:other-authority.test");
    return made;
}

// The files of one process, and what it makes connections with.
class identity
{
public:
    explicit identity(const testing::self_signed& own,
                      const std::string& trusted = authority().certificate)
        : files_(write(own, trusted)),
          contexts_(rpc::watch_tls(testing::test_host(), files_))
    {}

    rpc::tls_settings write(const testing::self_signed& own, const std::string& trusted) const
    {
        return {folder_.write("certificate.pem", own.certificate),
                folder_.write("key.pem", own.key), folder_.write("ca.pem", trusted)};
    }

    const rpc::tls_contexts& contexts() const { return contexts_; }
    const testing::scratch_folder& folder() const { return folder_; }

private:
    testing::scratch_folder folder_;
    rpc::tls_settings files_;
    rpc::tls_contexts contexts_;
};

testing::self_signed certificate_for(const std::string& name)
{
    return testing::make_signed(authority(), "DNS:" + name);
}

// A service that counts the calls it gets; without contexts it is plain.
class counted_service
{
public:
    counted_service(rpc::tokens& tokens, const rpc::tls_contexts& tls)
        : server_(testing::test_host(), settings(tls), tokens)
    {
        server_.add(testing::take_quota, [this](testing::TakeQuotaRequest request) {
            ++calls;
            return testing::grant(std::move(request));
        });
        server_.start();
    }
    ~counted_service()
    {
        testing::await(server_.drain(500ms));
        server_.stop();
    }

    std::uint16_t port() const { return server_.local_address().port; }

    int calls = 0;

private:
    static http::server_settings settings(const rpc::tls_contexts& tls)
    {
        http::server_settings chosen;
        chosen.name = "rpc";
        chosen.tls = tls.server;
        return chosen;
    }

    rpc::server server_;
};

awaitable<std::vector<boost::asio::ip::address>> loopback(const std::string&)
{
    std::vector<boost::asio::ip::address> found;
    found.push_back(boost::asio::ip::make_address("127.0.0.1"));
    co_return found;
}

rpc::client_settings calls_with(const rpc::tls_contexts& tls, std::string tls_name = {})
{
    rpc::client_settings chosen;
    chosen.resolve = loopback;
    chosen.tls = tls.client;
    chosen.tls_name = std::move(tls_name);
    return chosen;
}

result<testing::TakeQuotaResponse> take(rpc::client& client)
{
    return testing::await(client.call(testing::take_quota, testing::quota_request(1)));
}

// One call by a client of its own.
result<testing::TakeQuotaResponse> call(const std::string& host, std::uint16_t port,
                                        rpc::tokens& tokens, const rpc::tls_contexts& tls,
                                        std::string tls_name = {})
{
    rpc::client client(testing::test_host(), {host_port(host, port)}, tokens,
                       calls_with(tls, std::move(tls_name)));
    return take(client);
}

void check_unavailable(const result<testing::TakeQuotaResponse>& response, const std::string& why)
{
    REQUIRE_FALSE(response);
    CHECK(response.error().code == errc::unavailable);
    CHECK_THAT(response.error().message, Contains(why));
}

double handshakes(const char* is_resumed)
{
    return testing::test_host()
        .metrics()
        .counter("http_client_tls_handshakes_total", "", {{"resumed", is_resumed}})
        .Value();
}

double expiry_of(const std::string& setting, const std::string& file)
{
    return testing::test_host()
        .metrics()
        .gauge("tempinbox_certificate_expiry_timestamp_seconds",
               "Unix time at which the certificate in use ends",
               {{"file", file}, {"setting", setting}})
        .Value();
}

std::vector<std::string> problems_of(std::map<std::string, std::string> values)
{
    config::reader reader(std::move(values));
    rpc::read_tls_settings(reader);
    return reader.problems();
}

// POST to the service by a client that need not be one of ours.
http::client_response post(std::uint16_t port, http::client_settings chosen)
{
    chosen.resolve = loopback;
    http::client client(testing::test_host(), std::move(chosen));
    http::client_request outgoing;
    outgoing.method = "POST";
    outgoing.url = "https://inbox.test:" + std::to_string(port) + "/";
    outgoing.headers.emplace_back("Authorization", "Bearer " + testing::rpc_token);
    return testing::await(client.send(std::move(outgoing)));
}

} // namespace

TEST_CASE("services with certificates of one authority call each other", "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    counted_service service(file.tokens, inbox.contexts());

    const auto response = call("inbox.test", service.port(), file.tokens, gateway.contexts());

    REQUIRE(response);
    CHECK(response->results(0).granted() == 1);
    CHECK(service.calls == 1);
}

TEST_CASE("over TLS a call still needs the token", "[rpc][tls]")
{
    testing::token_file file;
    testing::scratch_folder folder;
    rpc::tokens others(folder.write("tokens", "another-token-0123456789\n"));
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    counted_service service(file.tokens, inbox.contexts());

    const auto response = call("inbox.test", service.port(), others, gateway.contexts());

    REQUIRE_FALSE(response);
    CHECK(response.error().code == errc::unauthenticated);
    CHECK(service.calls == 0);
}

TEST_CASE("a certificate for another name than the configured one is refused", "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    counted_service service(file.tokens, inbox.contexts());

    check_unavailable(call("rate-limit.test", service.port(), file.tokens, gateway.contexts()),
                      "it is for another host");
    check_unavailable(call("127.0.0.1", service.port(), file.tokens, gateway.contexts()),
                      "it is for another host");
    CHECK(service.calls == 0);
}

TEST_CASE("a replica that is called by its address shows the name that is set", "[rpc][tls]")
{
    testing::token_file file;
    const identity one(certificate_for("rate-limit.test")), two(certificate_for("rate-limit.test"));
    counted_service service(file.tokens, one.contexts());

    CHECK(call("127.0.0.1", service.port(), file.tokens, two.contexts(), "rate-limit.test"));
    check_unavailable(call("127.0.0.1", service.port(), file.tokens, two.contexts(), "inbox.test"),
                      "it is for another host");
}

TEST_CASE("a client without a certificate is refused", "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test"));
    counted_service service(file.tokens, inbox.contexts());
    http::client_settings without;
    without.ca_file = inbox.folder().file("ca.pem");

    const auto response = post(service.port(), without);

    CHECK(response.error == http::exchange_error::tls);
    CHECK_FALSE(response.is_sent);
    CHECK_THAT(response.error_text, Contains("refused this client's certificate"));
    CHECK(service.calls == 0);
}

TEST_CASE("TLS 1.2 is refused between services", "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    counted_service service(file.tokens, inbox.contexts());
    const auto of_version = [&gateway](int newest) {
        const auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
        SSL_CTX_set_max_proto_version(context->native_handle(), newest);
        context->load_verify_file(gateway.folder().file("ca.pem"));
        context->use_certificate_chain_file(gateway.folder().file("certificate.pem"));
        context->use_private_key_file(gateway.folder().file("key.pem"), ssl::context::pem);
        http::client_settings chosen;
        chosen.tls = [context] { return context; };
        return chosen;
    };

    CHECK(post(service.port(), of_version(TLS1_3_VERSION)).status == 404);
    CHECK(post(service.port(), of_version(TLS1_2_VERSION)).error == http::exchange_error::tls);
}

TEST_CASE("a certificate of another authority is refused on either side", "[rpc][tls]")
{
    testing::token_file file;
    const auto stranger = testing::make_signed(other_authority(), "DNS:inbox.test");
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    const identity strange(stranger);
    counted_service service(file.tokens, inbox.contexts());
    counted_service strange_service(file.tokens, strange.contexts());

    check_unavailable(call("inbox.test", strange_service.port(), file.tokens, gateway.contexts()),
                      "the certificate is not trusted");
    check_unavailable(call("inbox.test", service.port(), file.tokens, strange.contexts()),
                      "refused this client's certificate");
    CHECK(service.calls + strange_service.calls == 0);
}

TEST_CASE("an expired certificate is refused on either side", "[rpc][tls]")
{
    testing::token_file file;
    const testing::validity over{-2h, -1h};
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    const identity expired(testing::make_signed(authority(), "DNS:inbox.test", over));
    counted_service service(file.tokens, inbox.contexts());
    counted_service expired_service(file.tokens, expired.contexts());

    check_unavailable(call("inbox.test", expired_service.port(), file.tokens, gateway.contexts()),
                      "certificate has expired");
    check_unavailable(call("inbox.test", service.port(), file.tokens, expired.contexts()),
                      "refused this client's certificate");
}

TEST_CASE("neither side falls back to plain HTTP", "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    const rpc::tls_contexts plain;
    counted_service service(file.tokens, inbox.contexts());
    counted_service plain_service(file.tokens, plain);

    const auto to_tls = call("inbox.test", service.port(), file.tokens, plain);
    const auto to_plain = call("inbox.test", plain_service.port(), file.tokens, gateway.contexts());

    REQUIRE_FALSE(to_tls);
    CHECK(to_tls.error().code == errc::unavailable);
    check_unavailable(to_plain, "TLS");
    CHECK(service.calls + plain_service.calls == 0);
}

TEST_CASE("a service logs why a connection was not made, but not that a port was probed",
          "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test"));
    counted_service service(file.tokens, inbox.contexts());
    http::client_settings without;
    without.ca_file = inbox.folder().file("ca.pem");

    const auto lines = testing::captured_lines([&] {
        {
            boost::asio::ip::tcp::socket probe(testing::test_host().loop());
            probe.connect({boost::asio::ip::make_address("127.0.0.1"), service.port()});
        }
        (void)call("127.0.0.1", service.port(), file.tokens, rpc::tls_contexts());
        (void)post(service.port(), without);
        testing::eventually([] { return testing::test_host().loop().poll() == 0; });
    });

    std::vector<std::string> named;
    for (const auto& line : lines)
        if (line.find("a TLS connection was not made") != std::string::npos)
            named.push_back(line);
    REQUIRE(named.size() == 2);
    CHECK_THAT(named[0], Contains("the peer speaks plain HTTP") && Contains("127.0.0.1"));
    CHECK_THAT(named[1], Contains("peer did not return a certificate"));
}

TEST_CASE("a replica whose certificate is refused is passed over", "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    const identity strange(testing::make_signed(other_authority(), "DNS:inbox.test"));
    counted_service service(file.tokens, inbox.contexts());
    counted_service strange_service(file.tokens, strange.contexts());
    rpc::client client(
        testing::test_host(),
        {host_port("127.0.0.1", strange_service.port()), host_port("127.0.0.1", service.port())},
        file.tokens, calls_with(gateway.contexts(), "inbox.test"));

    for (int i = 0; i < 4; ++i)
        CHECK(take(client));

    CHECK(service.calls == 4);
}

TEST_CASE("new connections use a renewed certificate while old ones go on", "[rpc][tls]")
{
    testing::token_file file;
    const auto both = authority().certificate + other_authority().certificate;
    const identity inbox(certificate_for("inbox.test"), both);
    const identity gateway(certificate_for("gateway.test"));
    const identity renewed_gateway(testing::make_signed(other_authority(), "DNS:gateway.test"),
                                   other_authority().certificate);
    counted_service service(file.tokens, inbox.contexts());
    // By its address, so that no look-up changes what its connections are filed under.
    rpc::client old_client(testing::test_host(), {host_port("127.0.0.1", service.port())},
                           file.tokens, calls_with(gateway.contexts(), "inbox.test"));
    REQUIRE(take(old_client));
    const auto full = handshakes("false"), resumed = handshakes("true");

    inbox.write(testing::make_signed(other_authority(), "DNS:inbox.test"), both);
    testing::test_host().files().check();

    CHECK(take(old_client));
    CHECK(handshakes("false") == full);
    CHECK(call("inbox.test", service.port(), file.tokens, renewed_gateway.contexts()));
    // This one would resume a session if there were any; it trusts the old authority only.
    check_unavailable(call("inbox.test", service.port(), file.tokens, gateway.contexts()),
                      "the certificate is not trusted");
    CHECK(handshakes("true") == resumed);
}

TEST_CASE("a client shows its renewed certificate on new connections", "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test"));
    const identity gateway(testing::make_signed(other_authority(), "DNS:gateway.test"));
    counted_service service(file.tokens, inbox.contexts());
    rpc::client client(testing::test_host(), {host_port("inbox.test", service.port())}, file.tokens,
                       calls_with(gateway.contexts()));
    REQUIRE_FALSE(take(client));

    gateway.write(certificate_for("gateway.test"), authority().certificate);
    testing::test_host().files().check();

    CHECK(take(client));
}

TEST_CASE("an authority that is taken out is trusted by no new connection", "[rpc][tls]")
{
    testing::token_file file;
    const auto own = certificate_for("inbox.test");
    const identity inbox(own), gateway(certificate_for("gateway.test"));
    counted_service service(file.tokens, inbox.contexts());
    REQUIRE(call("inbox.test", service.port(), file.tokens, gateway.contexts()));

    inbox.write(own, other_authority().certificate);
    testing::test_host().files().check();

    check_unavailable(call("inbox.test", service.port(), file.tokens, gateway.contexts()),
                      "refused this client's certificate");
}

TEST_CASE("files that do not load leave the old ones in use", "[rpc][tls]")
{
    testing::token_file file;
    const identity inbox(certificate_for("inbox.test")), gateway(certificate_for("gateway.test"));
    counted_service service(file.tokens, inbox.contexts());

    for (const auto* broken : {"key.pem", "certificate.pem", "ca.pem"}) {
        inbox.folder().write(broken, "rubbish\n");
        testing::test_host().files().check();
        CHECK(call("inbox.test", service.port(), file.tokens, gateway.contexts()));
    }
    const auto current = testing::test_host()
                             .metrics()
                             .gauge("tempinbox_files_current",
                                    "Whether the files of a setting are in use as they are (1), 0 "
                                    "while older content is used because they cannot be",
                                    {{"setting", "rpc-tls-certificate-file"}})
                             .Value();
    CHECK(current == 0);
    inbox.write(certificate_for("inbox.test"), authority().certificate);
    testing::test_host().files().check();
    CHECK(call("inbox.test", service.port(), file.tokens, gateway.contexts()));
}

TEST_CASE("a key of another certificate stops the start and is named", "[rpc][tls]")
{
    const testing::scratch_folder folder;
    const auto own = certificate_for("inbox.test"), other = certificate_for("inbox.test");
    const rpc::tls_settings files{folder.write("certificate.pem", own.certificate),
                                  folder.write("other-key.pem", other.key),
                                  folder.write("ca.pem", authority().certificate)};

    CHECK_THROWS_WITH(rpc::watch_tls(testing::test_host(), files),
                      Contains("cannot use certificate") && Contains("other-key.pem"));
}

TEST_CASE("a metric shows when the certificate and its authorities end", "[rpc][tls]")
{
    const testing::validity soon{-1h, 10h}, sooner{-1h, 5h};
    const auto brief_authority = testing::make_self_signed("DNS:brief.test", sooner);
    const identity inbox(testing::make_signed(brief_authority, "DNS:inbox.test", soon),
                         authority().certificate + brief_authority.certificate);

    const auto now = static_cast<double>(to_unix_seconds(system_clock_source().now()));
    CHECK(expiry_of("rpc-tls-certificate-file", inbox.folder().file("certificate.pem")) ==
          Approx(now + 36'000).margin(60));
    CHECK(expiry_of("rpc-tls-ca-file", inbox.folder().file("ca.pem")) <= now + 18'060);
}

TEST_CASE("certificate, key and authorities are set together or not at all", "[rpc][tls]")
{
    const std::string certificate = "rpc-tls-certificate-file", key = "rpc-tls-key-file",
                      authorities = "rpc-tls-ca-file", some = "/dev/null";

    CHECK(problems_of({}).empty());
    CHECK(problems_of({{certificate, some}, {key, some}, {authorities, some}}).empty());
    const auto missing = problems_of({{certificate, some}});
    REQUIRE(missing.size() == 2);
    CHECK_THAT(missing[0], Contains(key + " and " + authorities));
    CHECK(problems_of({{authorities, some}}).size() == 2);
    const auto no_key = problems_of({{certificate, some}, {authorities, some}});
    REQUIRE(no_key.size() == 1);
    CHECK_THAT(no_key[0], Contains(key));
}
