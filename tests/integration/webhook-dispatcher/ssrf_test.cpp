#include "integration/webhook-dispatcher/suite.hpp"

#include "unit/webhook-dispatcher/delivery/fake_dns.hpp"

#include <catch2/catch.hpp>

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

// A receiver known by a name of our own name server.
struct named_suite
{
    testing::fake_dns dns;
    suite s;
    testing::dispatcher process;

    explicit named_suite(std::chrono::milliseconds kept_for = 30s)
        : process(s.scratch.dsn(), testing::loopback_policy(), {}, asking(kept_for))
    {
        process.keys = s.process.keys;
        process.start();
    }

    webhooks::name_resolver_settings asking(std::chrono::milliseconds kept_for) const
    {
        webhooks::name_resolver_settings chosen;
        chosen.servers = dns.address();
        chosen.kept_for = kept_for;
        return chosen;
    }
    std::string url() const { return "http://hook.example:" + s.hook.url().substr(std::string("http://127.0.0.1:").size()); }
    void deliver() { await(process.intake.handle({email_record(email(s.account))})); }
};

} // namespace

TEST_CASE("a name is dialled at the address that was judged, with its own name as Host", "[webhooks][postgres][ssrf]")
{
    named_suite n;
    n.dns.answer("hook.example", addresses({{127, 0, 0, 1}}));
    await(n.process.webhook_calls.create(testing::webhook_request(n.s.account, n.url()))).value();

    n.deliver();

    REQUIRE(n.s.hook.got(1));
    CHECK(n.s.hook.requests()[0].header("host").value_or("").starts_with("hook.example:"));
}

TEST_CASE("a name with one forbidden address is refused when it is registered", "[webhooks][postgres][ssrf]")
{
    named_suite n;
    n.dns.answer("hook.example", addresses({{127, 0, 0, 1}, {10, 0, 0, 1}}));

    const auto refused = await(n.process.webhook_calls.create(testing::webhook_request(n.s.account, n.url())));

    REQUIRE(refused.has_error());
    CHECK(refused.error().message == "url must lead to a public address; \"hook.example\" is private, local or reserved");
}

TEST_CASE("a name that turns to a forbidden address is not dialled and switches the webhook off", "[webhooks][postgres][ssrf]")
{
    named_suite n(1ms);
    n.dns.answer("hook.example", addresses({{127, 0, 0, 1}}));
    await(n.process.webhook_calls.create(testing::webhook_request(n.s.account, n.url()))).value();
    n.dns.answer("hook.example", addresses({{127, 0, 0, 1}, {10, 0, 0, 1}}));
    REQUIRE(testing::eventually([&] { return await(n.process.names.resolve("hook.example")).size() == 2; }));

    n.deliver();

    CHECK(n.s.becomes("webhooks.delivery WHERE state = 'aborted' AND attempts = 1 AND last_status IS NULL", 1));
    CHECK(n.s.becomes("webhooks.endpoint WHERE NOT is_enabled AND disabled_reason LIKE 'its address is private%'", 1));
    CHECK(n.s.count("webhooks.attempt WHERE error LIKE '%10.0.0.1%'") == 0);
    CHECK(n.s.hook.requests().empty());
}

TEST_CASE("a redirect to a forbidden address is not followed", "[webhooks][postgres][ssrf]")
{
    suite s;
    testing::receiver inside;
    s.process.start();
    s.create_webhook(s.hook.url());
    testing::receiver::answer redirect(302);
    redirect.headers.emplace_back("Location", inside.url());
    s.hook.answer_always(redirect);

    s.deliver({email_record(email(s.account))});

    REQUIRE(s.becomes("webhooks.attempt WHERE status = 302 AND error = 'redirects are not followed'", 1));
    CHECK(inside.requests().empty());
}

TEST_CASE("a name that does not resolve is an attempt, a name server that fails is not", "[webhooks][postgres]")
{
    named_suite n;
    await(n.process.webhook_calls.create(testing::webhook_request(n.s.account, n.url()))).value();

    n.deliver();
    REQUIRE(n.s.becomes("webhooks.due WHERE attempts = 1 AND lease_id IS NULL", 1));

    testing::fake_dns::reply broken;
    broken.code = 2;
    n.dns.answer("hook.example", broken);
    n.deliver();
    REQUIRE(n.s.becomes("webhooks.due WHERE attempts = 0 AND lease_id IS NULL AND run_at > now() + interval '3 s'", 1));
    CHECK(n.s.count("webhooks.attempt") == 1);
}
