#include "webhook-dispatcher/delivery/http_sender.hpp"

#include "unit/common/http/running_server.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;
using kind = exchange_result::kind;

namespace {

awaitable<std::vector<boost::asio::ip::address>> on_loopback(const std::string&)
{
    std::vector<boost::asio::ip::address> found;
    found.push_back(boost::asio::ip::make_address("127.0.0.1"));
    co_return found;
}

awaitable<http::response> take(http::request&)
{
    co_return http::response(200, "text/plain", "taken");
}

// A receiver with a certificate, and a sender that trusts it or not.
struct tls_receiver
{
    tls_receiver(const std::string& names, testing::validity when = {}, bool is_trusted = true)
        : running(take, settings(names, when)),
          sender(testing::test_host(), address_policy({*network::parse("127.0.0.0/8")}, {}),
                 on_loopback, trusted(is_trusted))
    {}

    http::server_settings settings(const std::string& names, testing::validity when)
    {
        const auto pair = testing::make_self_signed(names, when);
        http::server_settings chosen;
        chosen.certificate_file = folder.write("certificate.pem", pair.certificate);
        chosen.key_file = folder.write("key.pem", pair.key);
        return chosen;
    }
    std::string trusted(bool is_trusted)
    {
        if (is_trusted)
            return folder.file("certificate.pem");
        return folder.write("stranger.pem", testing::make_self_signed("DNS:hook.test").certificate);
    }

    sent_request deliver(webhook_id id = webhook_id::make())
    {
        auto to = std::make_shared<receiver>();
        to->id = id;
        to->url = "https://hook.test:" + std::to_string(running.address().port) + "/hook";
        to->key = secret{"0123456789abcdef01234567"};
        auto event = std::make_shared<outgoing_event>();
        event->id = event_id::make();
        event->body = "{}";
        delivery_job job;
        job.event = event;
        job.to = to;
        return testing::await(sender.send(std::move(job)));
    }

    testing::scratch_folder folder;
    testing::running_server running;
    http_sender sender;
};

std::string refusal(tls_receiver& receiver)
{
    const auto sent = receiver.deliver();
    CHECK(sent.result.what == kind::tls_failed);
    CHECK(sent.result.status == 0);
    return sent.result.detail;
}

} // namespace

TEST_CASE("a webhook goes over TLS to the host its certificate names", "[webhooks][sender][tls]")
{
    tls_receiver receiver("DNS:hook.test");

    const auto sent = receiver.deliver();

    CHECK(sent.result.what == kind::answered);
    CHECK(sent.result.status == 200);
    CHECK(sent.response_body == "taken");
}

TEST_CASE("the attempt says what is wrong with a certificate", "[webhooks][sender][tls]")
{
    using std::chrono::hours;
    tls_receiver expired("DNS:hook.test", {hours(-48), hours(-24)});
    tls_receiver early("DNS:hook.test", {hours(24), hours(48)});
    tls_receiver other("DNS:other.test");
    tls_receiver stranger("DNS:hook.test", {}, false);

    CHECK(refusal(expired) == "the certificate is not trusted: certificate has expired");
    CHECK(refusal(early) == "the certificate is not trusted: certificate is not yet valid");
    CHECK(refusal(other) == "the certificate is not trusted: it is for another host");
    CHECK(refusal(stranger) == "the certificate is not trusted: self-signed certificate");
}

TEST_CASE("each endpoint has connections of its own and keeps them", "[webhooks][sender][tls]")
{
    tls_receiver receiver("DNS:hook.test");
    const auto one = webhook_id::make(), two = webhook_id::make();

    for (const auto& id : {one, two, one, two, one})
        CHECK(receiver.deliver(id).result.status == 200);

    CHECK(receiver.running.server.connections() == 2);
}
