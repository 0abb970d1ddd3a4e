#include "integration/webhook-dispatcher/suite.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::await;
using testing::suite;

namespace {

struct noticing_suite : suite
{
    webhook_id webhook =
        webhook_id::parse(create_webhook(hook.url()).webhook().webhook_id()).value();

    void switch_off()
    {
        await(process.endpoints.disable(account, webhook, "it answered 410 Gone"));
    }
    void switch_on()
    {
        webhooks::endpoint_change change;
        change.is_enabled = true;
        REQUIRE(await(process.endpoints.update(account, webhook, change)));
    }
    // As if the last claim were so long ago.
    void let_pass(const std::string& time)
    {
        scratch.execute("UPDATE webhooks.endpoints SET notice_at = notice_at - interval '" + time +
                        "'");
    }
};

} // namespace

TEST_CASE("a webhook that the service switched off has a pending notice", "[webhooks][postgres]")
{
    noticing_suite s;
    CHECK(await(s.process.endpoints.claim_notices(10)).empty());
    s.switch_off();

    const auto pending = await(s.process.endpoints.claim_notices(10));

    REQUIRE(pending.size() == 1);
    CHECK(pending[0].account == s.account);
    CHECK(pending[0].webhook == s.webhook);
    CHECK(pending[0].url == s.hook.url());
    CHECK(pending[0].reason == "it answered 410 Gone");
}

TEST_CASE("a claimed notice is pending again after five minutes, unless it is settled",
          "[webhooks][postgres]")
{
    noticing_suite s;
    s.switch_off();
    const auto first = await(s.process.endpoints.claim_notices(10));
    CHECK(await(s.process.endpoints.claim_notices(10)).empty());
    s.let_pass("5 minutes 1 second");
    const auto second = await(s.process.endpoints.claim_notices(10));
    REQUIRE(second.size() == 1);
    CHECK(second[0].id == first.at(0).id);

    await(s.process.endpoints.settle_notice(s.account, s.webhook, second[0].id));
    s.let_pass("5 minutes 1 second");

    CHECK(await(s.process.endpoints.claim_notices(10)).empty());
}

TEST_CASE("a webhook switched on again, or off by its account, has no notice",
          "[webhooks][postgres]")
{
    noticing_suite s;
    s.switch_off();
    s.switch_on();
    CHECK(await(s.process.endpoints.claim_notices(10)).empty());

    webhooks::endpoint_change change;
    change.is_enabled = false;
    REQUIRE(await(s.process.endpoints.update(s.account, s.webhook, change)));

    CHECK(await(s.process.endpoints.claim_notices(10)).empty());
}

TEST_CASE("a late settlement leaves the notice of a later switching off", "[webhooks][postgres]")
{
    noticing_suite s;
    s.switch_off();
    const auto first = await(s.process.endpoints.claim_notices(10)).at(0);
    s.switch_on();
    s.switch_off();

    await(s.process.endpoints.settle_notice(s.account, s.webhook, first.id));

    CHECK(await(s.process.endpoints.claim_notices(10)).size() == 1);
}

TEST_CASE("a notice that nobody claimed within a day is dropped", "[webhooks][postgres]")
{
    noticing_suite s;
    s.switch_off();
    s.let_pass("1 day");

    CHECK(await(s.process.endpoints.claim_notices(10)).empty());
}
