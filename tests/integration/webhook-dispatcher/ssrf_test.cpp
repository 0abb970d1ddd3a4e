#include "integration/webhook-dispatcher/suite.hpp"

#include "unit/webhook-dispatcher/delivery/fake_dns.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::email;
using testing::email_record;
using testing::suite;

namespace {

using octets = std::array<std::uint8_t, 4>;

testing::fake_dns::reply addresses(std::vector<octets> given)
{
    testing::fake_dns::reply reply;
    reply.addresses = std::move(given);
    return reply;
}

// Mapped, NAT64 (RFC 6052, RFC 8215), 6to4, Teredo, compatible; loopback, link-local, unique local,
// metadata.
constexpr std::array forbidden_forms{"::ffff:10.0.0.1",
                                     "::ffff:169.254.169.254",
                                     "64:ff9b::a9fe:a9fe",
                                     "64:ff9b:1::a00:1",
                                     "2002:7f00:1::",
                                     "2002:a9fe:a9fe::1",
                                     "2001:0:4136:e378:8000:63bf:3fff:fdd2",
                                     "::10.0.0.1",
                                     "::1",
                                     "fe80::1",
                                     "fd00:ec2::254",
                                     "ff02::1"};

std::string form_name(std::string_view form)
{
    const auto index =
        std::find(forbidden_forms.begin(), forbidden_forms.end(), form) - forbidden_forms.begin();
    return "hook" + std::to_string(index) + ".example";
}

// An allowed IPv4 address and this one.
testing::fake_dns::reply with_v6(const char* form)
{
    auto given = addresses({{127, 0, 0, 1}});
    given.v6_addresses.push_back(boost::asio::ip::make_address_v6(form).to_bytes());
    return given;
}

// A receiver known by a name of our own name server.
struct named_suite
{
    testing::fake_dns dns;
    suite s;
    testing::dispatcher process;

    explicit named_suite(std::chrono::milliseconds cache_ttl = 30s)
        : process(s.scratch.dsn(), testing::loopback_policy(), {}, asking(cache_ttl))
    {
        process.start();
    }

    webhooks::name_resolver_settings asking(std::chrono::milliseconds cache_ttl) const
    {
        webhooks::name_resolver_settings chosen;
        chosen.servers = dns.address();
        chosen.cache_ttl = cache_ttl;
        return chosen;
    }
    std::string url(const std::string& name = "hook.example") const
    {
        return "http://" + name + s.hook.url().substr(std::string("http://127.0.0.1").size());
    }
    webhooks::v1::CreateWebhookRequest request_for(const std::string& name) const
    {
        return testing::webhook_request(s.account, url(name),
                                        static_cast<int>(forbidden_forms.size()));
    }
    void deliver() { await(process.ingest.handle({email_record(email(s.account))})); }
};

} // namespace

TEST_CASE("a name is dialled at the address that was checked, with its own name as Host",
          "[webhooks][postgres][ssrf]")
{
    named_suite n;
    n.dns.set_reply("hook.example", addresses({{127, 0, 0, 1}}));
    await(n.process.webhook_rpc.create(testing::webhook_request(n.s.account, n.url()))).value();

    n.deliver();

    REQUIRE(n.s.hook.got(1));
    CHECK(n.s.hook.requests()[0].header("host").value_or("").starts_with("hook.example:"));
}

TEST_CASE("a name with one forbidden address is refused when it is registered",
          "[webhooks][postgres][ssrf]")
{
    named_suite n;
    n.dns.set_reply("hook.example", addresses({{127, 0, 0, 1}, {10, 0, 0, 1}}));

    const auto refused =
        await(n.process.webhook_rpc.create(testing::webhook_request(n.s.account, n.url())));

    REQUIRE(refused.has_error());
    CHECK(refused.error().message ==
          "url must lead to a public address; \"hook.example\" is private, local or reserved");
}

TEST_CASE("a name that turns to a forbidden address is not dialled and switches the webhook off",
          "[webhooks][postgres][ssrf]")
{
    named_suite n(1ms);
    n.dns.set_reply("hook.example", addresses({{127, 0, 0, 1}}));
    await(n.process.webhook_rpc.create(testing::webhook_request(n.s.account, n.url()))).value();
    n.dns.set_reply("hook.example", addresses({{127, 0, 0, 1}, {10, 0, 0, 1}}));
    REQUIRE(testing::eventually(
        [&] { return await(n.process.names.resolve("hook.example")).size() == 2; }));

    n.deliver();

    CHECK(n.s.becomes(
        "webhooks.deliveries WHERE state = 'aborted' AND attempts = 1 AND last_status IS NULL", 1));
    CHECK(n.s.becomes("webhooks.endpoints WHERE NOT is_enabled AND disabled_reason LIKE 'its "
                      "address is private%'",
                      1));
    CHECK(n.s.count("webhooks.attempts WHERE error LIKE '%10.0.0.1%'") == 0);
    CHECK(n.s.hook.requests().empty());
}

TEST_CASE(
    "IPv6 answers that hide, tunnel or translate to IPv4, and local ones, are refused at save",
    "[webhooks][postgres][ssrf]")
{
    named_suite n;
    for (const auto* form : forbidden_forms) {
        INFO(form);
        n.dns.set_reply(form_name(form), with_v6(form));

        const auto refused = await(n.process.webhook_rpc.create(n.request_for(form_name(form))));

        REQUIRE(refused.has_error());
        CHECK(refused.error().message.starts_with("url must lead to a public address"));
        CHECK(refused.error().message.find(form) == std::string::npos);
    }
    CHECK(n.s.count("webhooks.endpoints") == 0);
}

TEST_CASE("names that turn to such answers later are refused at send", "[webhooks][postgres][ssrf]")
{
    named_suite n(1ms);
    for (const auto* form : forbidden_forms) {
        n.dns.set_reply(form_name(form), addresses({{127, 0, 0, 1}}));
        await(n.process.webhook_rpc.create(n.request_for(form_name(form)))).value();
        n.dns.set_reply(form_name(form), with_v6(form));
        REQUIRE(testing::eventually(
            [&] { return await(n.process.names.resolve(form_name(form))).size() == 2; }));
    }
    const int count = static_cast<int>(forbidden_forms.size());

    n.deliver();

    CHECK(n.s.becomes(
        "webhooks.deliveries WHERE state = 'aborted' AND attempts = 1 AND last_status IS NULL",
        count));
    CHECK(n.s.becomes("webhooks.endpoints WHERE NOT is_enabled AND disabled_reason LIKE 'its "
                      "address is private%'",
                      count));
    CHECK(n.s.count("webhooks.attempts WHERE error ~ '[0-9a-f]*:[0-9a-f]*:'") == 0);
    CHECK(n.s.hook.requests().empty());
}

TEST_CASE("a literal address that the operator allows no longer is refused at send",
          "[webhooks][postgres][ssrf]")
{
    suite s;
    s.create_webhook(s.hook.url());
    webhooks::url_policy strict;
    strict.allows_http = true;
    testing::dispatcher process(s.scratch.dsn(), strict);
    process.start();

    await(process.ingest.handle({email_record(email(s.account))}));

    CHECK(s.becomes("webhooks.deliveries WHERE state = 'aborted'", 1));
    CHECK(s.becomes("webhooks.endpoints WHERE NOT is_enabled AND disabled_reason LIKE 'its address "
                    "is private%'",
                    1));
    CHECK(s.hook.requests().empty());
}

TEST_CASE("a redirect to a forbidden address is not followed", "[webhooks][postgres][ssrf]")
{
    suite s;
    testing::receiver inside;
    s.process.start();
    s.create_webhook(s.hook.url());
    std::vector<testing::receiver::scripted_response> redirects;
    for (const auto status : {301U, 302U, 303U, 307U, 308U}) {
        redirects.emplace_back(status);
        redirects.back().headers.emplace_back(
            "Location", status == 307U ? "http://169.254.169.254/latest/meta-data/" : inside.url());
    }
    s.hook.respond_with(redirects);

    for (std::size_t i = 0; i < redirects.size(); ++i)
        s.deliver({email_record(email(s.account))});

    for (const auto& redirect : redirects)
        REQUIRE(
            s.becomes("webhooks.attempts WHERE error = 'redirects are not followed' AND status = " +
                          std::to_string(redirect.status),
                      1));
    CHECK(inside.requests().empty());
}

TEST_CASE("a name that does not resolve is an attempt, a name server that fails is not",
          "[webhooks][postgres]")
{
    named_suite n;
    await(n.process.webhook_rpc.create(testing::webhook_request(n.s.account, n.url()))).value();

    n.deliver();
    REQUIRE(n.s.becomes("webhooks.due_deliveries WHERE attempts = 1 AND lease_id IS NULL", 1));

    testing::fake_dns::reply broken;
    broken.code = 2;
    n.dns.set_reply("hook.example", broken);
    n.deliver();
    REQUIRE(n.s.becomes("webhooks.due_deliveries WHERE attempts = 0 AND lease_id IS NULL AND "
                        "run_at > now() + interval '3 s'",
                        1));
    CHECK(n.s.count("webhooks.attempts") == 1);
}

TEST_CASE("a URL that the policy allows no longer is not called, and says so",
          "[webhooks][postgres][ssrf]")
{
    suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.create_rule(webhook);
    auto https_only = testing::loopback_policy();
    https_only.allows_http = false;
    testing::dispatcher process(s.scratch.dsn(), https_only);
    process.start();

    await(process.ingest.handle({email_record(email(s.account))}));
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'skipped_disabled'", 1));
    CHECK(s.hook.requests().empty());

    webhooks::v1::GetWebhookRequest request;
    request.set_account_id(s.account.text());
    request.set_webhook_id(webhook);
    const auto shown = await(process.webhook_rpc.get(request)).value().webhook();
    CHECK_FALSE(shown.is_enabled());
    CHECK(shown.disabled_reason().find("url must begin with https://") != std::string::npos);

    const auto refused = await(process.manual_sender.test(
        s.account, webhook_id::parse(webhook).value(), event_id::make(), std::nullopt));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::conflict);

    // With the earlier policy it is on again by itself.
    CHECK(await(s.process.webhook_rpc.get(request)).value().webhook().is_enabled());
}
