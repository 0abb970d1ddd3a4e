#include "common/http/client.hpp"
#include "unit/common/http/running_server.hpp"
#include "unit/common/http/scripted_server.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using http::exchange_error;
using std::chrono::milliseconds;

namespace {

awaitable<http::response> echo(http::request& received)
{
    co_return http::response(200, "text/plain", received.is_tls ? "tls " + received.body : "plain");
}

http::server_settings with_certificate(const testing::scratch_folder& folder,
                                       const std::string& names, testing::validity when = {})
{
    const auto pair = testing::make_self_signed(names, when);
    http::server_settings settings;
    settings.certificate_file = folder.write("certificate.pem", pair.certificate);
    settings.key_file = folder.write("key.pem", pair.key);
    return settings;
}

http::client_settings trusting(const std::string& certificate_file)
{
    http::client_settings settings;
    settings.ca_file = certificate_file;
    settings.resolve = [](const std::string&) -> awaitable<std::vector<boost::asio::ip::address>> {
        std::vector<boost::asio::ip::address> found;
        found.push_back(boost::asio::ip::make_address("127.0.0.1"));
        co_return found;
    };
    return settings;
}

http::client_response post(http::client& client, const std::string& host,
                           const testing::running_server& running, std::string body = "hi")
{
    http::client_request outgoing;
    outgoing.method = "POST";
    outgoing.url = "https://" + host + ":" + std::to_string(running.address().port) + "/";
    outgoing.body = std::move(body);
    return testing::await(client.send(std::move(outgoing)));
}

} // namespace

TEST_CASE("client and server speak TLS", "[http][tls]")
{
    const testing::scratch_folder folder;
    testing::running_server running(echo, with_certificate(folder, "DNS:good.test,IP:127.0.0.1"));
    http::client client(testing::test_host(), trusting(folder.file("certificate.pem")));

    const auto by_name = post(client, "good.test", running);
    const auto again = post(client, "good.test", running, std::string(60'000, 'x'));
    const auto by_address = post(client, "127.0.0.1", running);

    CHECK(by_name.error_text.empty());
    CHECK(by_name.body == "tls hi");
    CHECK(again.body.size() == 60'004);
    CHECK(by_address.body == "tls hi");
    CHECK(running.server.connections() == 2);
}

TEST_CASE("a certificate for another host or of an unknown issuer is refused", "[http][tls]")
{
    const testing::scratch_folder folder;
    testing::running_server running(echo, with_certificate(folder, "DNS:good.test"));
    const auto stranger =
        folder.write("stranger.pem", testing::make_self_signed("DNS:good.test").certificate);

    http::client mismatch(testing::test_host(), trusting(folder.file("certificate.pem")));
    const auto other_name = post(mismatch, "evil.test", running);
    const auto other_address = post(mismatch, "127.0.0.1", running);
    http::client distrusting(testing::test_host(), trusting(stranger));
    const auto unknown = post(distrusting, "good.test", running);
    auto blind_settings = trusting(stranger);
    blind_settings.verify_certificates = false;
    http::client blind(testing::test_host(), blind_settings);

    CHECK(other_name.error == exchange_error::tls);
    CHECK(other_address.error == exchange_error::tls);
    CHECK(unknown.error == exchange_error::tls);
    CHECK_THAT(unknown.error_text, Contains("not trusted"));
    CHECK(post(blind, "good.test", running).body == "tls hi");
}

TEST_CASE("why a certificate is refused is said", "[http][tls]")
{
    const testing::scratch_folder folder;
    const auto reason = [&folder](const std::string& host, const std::string& names,
                                  testing::validity when, bool is_trusted) {
        testing::running_server running(echo, with_certificate(folder, names, when));
        const auto stranger =
            folder.write("stranger.pem", testing::make_self_signed("DNS:good.test").certificate);
        http::client client(testing::test_host(),
                            trusting(is_trusted ? folder.file("certificate.pem") : stranger));
        const auto response = post(client, host, running);
        CHECK(response.error == exchange_error::tls);
        CHECK_FALSE(response.is_sent);
        return response.error_text;
    };
    using std::chrono::hours;

    CHECK(reason("good.test", "DNS:good.test", {hours(-2), hours(-1)}, true) ==
          "the certificate is not trusted: certificate has expired");
    CHECK(reason("good.test", "DNS:good.test", {hours(1), hours(2)}, true) ==
          "the certificate is not trusted: certificate is not yet valid");
    CHECK(reason("good.test", "DNS:good.test", {}, false) ==
          "the certificate is not trusted: self-signed certificate");
    for (const auto* names : {"DNS:other.test", "DNS:test", "DNS:sub.good.test", "DNS:*.good.test",
                              "DNS:g*.test", "IP:127.0.0.1"})
        CHECK(reason("good.test", names, {}, true) ==
              "the certificate is not trusted: it is for another host");
    CHECK(reason("127.0.0.1", "DNS:good.test,IP:127.0.0.2", {}, true) ==
          "the certificate is not trusted: it is for another host");
}

TEST_CASE("names with wildcards and a dot at their end are matched", "[http][tls]")
{
    const testing::scratch_folder folder;
    testing::running_server running(echo, with_certificate(folder, "DNS:*.good.test"));
    http::client client(testing::test_host(), trusting(folder.file("certificate.pem")));

    CHECK(post(client, "hook.good.test", running).body == "tls hi");
    CHECK(post(client, "hook.good.test.", running).body == "tls hi");
    CHECK(post(client, "a.hook.good.test", running).error == exchange_error::tls);
}

TEST_CASE("pools share neither connections nor TLS sessions", "[http][tls]")
{
    const testing::scratch_folder folder;
    auto settings = with_certificate(folder, "DNS:good.test");
    settings.idle_timeout = milliseconds(40);
    testing::running_server running(echo, settings);
    http::client client(testing::test_host(), trusting(folder.file("certificate.pem")));
    const auto handshakes = [](const char* is_resumed) {
        return testing::test_host()
            .metrics()
            .counter("http_client_tls_handshakes_total", "", {{"resumed", is_resumed}})
            .Value();
    };
    const auto full = handshakes("false"), resumed = handshakes("true");

    for (const auto* pool : {"one", "two", "one", "two"}) {
        http::client_request outgoing;
        outgoing.url = "https://good.test:" + std::to_string(running.address().port) + "/";
        outgoing.pool = pool;
        CHECK(testing::await(client.send(outgoing)).status == 200);
        REQUIRE(testing::eventually([&] { return running.server.connections() == 0; }));
    }

    CHECK(handshakes("false") - full == 2);
    CHECK(handshakes("true") - resumed == 2);
}

TEST_CASE("a connection to a host is verified by the name that the request says", "[http][tls]")
{
    const testing::scratch_folder folder;
    testing::running_server running(echo, with_certificate(folder, "DNS:good.test"));
    http::client client(testing::test_host(), trusting(folder.file("certificate.pem")));
    const auto status_with = [&](const std::string& name) {
        http::client_request outgoing;
        outgoing.url = "https://127.0.0.1:" + std::to_string(running.address().port) + "/";
        outgoing.tls_name = name;
        return testing::await(client.send(std::move(outgoing))).status;
    };

    CHECK(status_with("good.test") == 200);
    // The connection that is open now was verified for the other name.
    CHECK(status_with("other.test") == 0);
    CHECK(status_with("") == 0);
}

TEST_CASE("TLS sessions are resumed on new connections", "[http][tls]")
{
    const testing::scratch_folder folder;
    auto settings = with_certificate(folder, "DNS:good.test");
    settings.idle_timeout = milliseconds(40);
    testing::running_server running(echo, settings);
    http::client client(testing::test_host(), trusting(folder.file("certificate.pem")));
    const auto resumed = [] {
        return testing::test_host()
            .metrics()
            .counter("http_client_tls_handshakes_total", "", {{"resumed", "true"}})
            .Value();
    };
    const auto before = resumed();

    for (int i = 0; i < 3; ++i) {
        CHECK(post(client, "good.test", running).body == "tls hi");
        REQUIRE(testing::eventually([&] { return running.server.connections() == 0; }));
    }

    CHECK(resumed() - before == 2);
}

TEST_CASE("a plain server is no TLS server", "[http][tls]")
{
    testing::scripted_server plain({testing::script({"HTTP/1.1 400 Bad Request\r\n\r\n"}, false)});
    http::client client(testing::test_host(), {});
    http::client_request outgoing;
    outgoing.url = "https://" + plain.address().text() + "/";
    outgoing.deadline = milliseconds(100);

    const auto response = testing::await(client.send(std::move(outgoing)));

    CHECK((response.error == exchange_error::tls || response.error == exchange_error::timeout));
    CHECK(response.status == 0);
}

TEST_CASE("a server takes a renewed certificate and keeps the old one over a broken one",
          "[http][tls]")
{
    const testing::scratch_folder folder;
    testing::running_server running(echo, with_certificate(folder, "DNS:old.test"));
    http::client old_client(testing::test_host(), trusting(folder.file("certificate.pem")));
    REQUIRE(post(old_client, "old.test", running).status == 200);

    folder.write("key.pem", "broken");
    testing::test_host().files().check();
    http::client still_old(testing::test_host(), trusting(folder.file("certificate.pem")));
    CHECK(post(still_old, "old.test", running).status == 200);

    const auto renewed = testing::make_self_signed("DNS:new.test");
    folder.write("key.pem", renewed.key);
    folder.write("certificate.pem", renewed.certificate);
    testing::test_host().files().check();
    http::client new_client(testing::test_host(), trusting(folder.file("certificate.pem")));
    CHECK(post(new_client, "new.test", running).status == 200);
}

TEST_CASE("a certificate that does not load stops the start", "[http][tls]")
{
    const testing::scratch_folder folder;
    auto settings = with_certificate(folder, "DNS:a.test");
    settings.key_file = folder.write("other.pem", testing::make_self_signed("DNS:b.test").key);
    http::server server(testing::test_host(), settings, echo);

    CHECK_THROWS_WITH(server.start(), Contains("cannot use certificate"));
}

TEST_CASE("trusted certificates are read again, and kept where the file cannot be used",
          "[http][tls][secrets]")
{
    const testing::scratch_folder folder;
    testing::running_server running(echo, with_certificate(folder, "DNS:good.test"));
    const auto pair = testing::make_self_signed("DNS:good.test");
    const auto trusted = folder.write("trusted.pem", pair.certificate);
    http::client client(testing::test_host(), trusting(trusted));
    CHECK(post(client, "good.test", running).error == exchange_error::tls);

    folder.write("trusted.pem", "rubbish");
    CHECK_THROWS_WITH(client.reload_trust(), Contains("trusted.pem"));
    CHECK(post(client, "good.test", running).error == exchange_error::tls);

    std::filesystem::copy_file(folder.file("certificate.pem"), trusted,
                               std::filesystem::copy_options::overwrite_existing);
    client.reload_trust();
    CHECK(post(client, "good.test", running).error_text.empty());
}

TEST_CASE("no session is resumed under a certificate that is not trusted any more",
          "[http][tls][secrets]")
{
    const testing::scratch_folder folder;
    testing::running_server running(echo, with_certificate(folder, "DNS:good.test"));
    auto settings = trusting(folder.file("certificate.pem"));
    settings.idle_connections = 0;
    http::client client(testing::test_host(), settings);
    CHECK(post(client, "good.test", running).error_text.empty());
    CHECK(post(client, "good.test", running).error_text.empty());

    folder.write("certificate.pem", testing::make_self_signed("DNS:good.test").certificate);
    client.reload_trust();

    CHECK(post(client, "good.test", running).error == exchange_error::tls);
}
