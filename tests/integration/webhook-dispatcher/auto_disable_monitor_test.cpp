#include "integration/webhook-dispatcher/suite.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::email;
using testing::email_record;
using testing::suite;

namespace {

// That many failed attempts, spread evenly over a time that ends now.
void fail(suite& s, const std::string& webhook, int attempts, std::chrono::hours over)
{
    const auto now = testing::test_host().clock().now();
    for (int i = 0; i < attempts; ++i) {
        webhooks::delivery_outcome outcome;
        outcome.account = s.account;
        outcome.webhook = webhook_id::parse(webhook).value();
        outcome.has_attempt = true;
        outcome.at = now - over + std::chrono::microseconds(over) * i / std::max(1, attempts - 1);
        s.process.failures.note(outcome);
    }
    await(s.process.failures.check());
}

bool is_off(suite& s)
{
    return s.count("webhooks.endpoints WHERE NOT is_enabled AND disabled_reason = 'every attempt "
                   "failed for five days'") == 1;
}

} // namespace

TEST_CASE("a webhook that only failed for five days is switched off and says so",
          "[webhooks][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();

    fail(s, webhook, 25, 121h);

    CHECK(is_off(s));
    s.deliver({email_record(email(s.account))});
    CHECK(s.count("webhooks.deliveries WHERE state = 'skipped_disabled'") == 1);
}

TEST_CASE("few failures, or failures of less than five days, switch nothing off",
          "[webhooks][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();

    fail(s, webhook, 19, 121h);
    CHECK_FALSE(is_off(s));
    s.scratch.execute("DELETE FROM webhooks.failing_endpoints");
    fail(s, webhook, 500, 119h);
    CHECK_FALSE(is_off(s));
}

TEST_CASE("failures that several processes saw are counted together", "[webhooks][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    fail(s, webhook, 12, 121h);
    CHECK_FALSE(is_off(s));

    testing::dispatcher other(s.scratch.dsn());
    for (int i = 0; i < 10; ++i) {
        webhooks::delivery_outcome outcome;
        outcome.account = s.account;
        outcome.webhook = webhook_id::parse(webhook).value();
        outcome.has_attempt = true;
        outcome.at = testing::test_host().clock().now();
        other.failures.note(outcome);
    }
    await(other.failures.check());

    CHECK(is_off(s));
}

TEST_CASE("one success among the failures begins the five days anew", "[webhooks][postgres]")
{
    suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.deliver({email_record(email(s.account))});
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    s.scratch.execute("UPDATE webhooks.deliveries SET finished_at = now() - interval '4 days'");

    fail(s, webhook, 30, 121h);

    CHECK_FALSE(is_off(s));
    CHECK(s.count("webhooks.failing_endpoints WHERE failures = 0 AND first_failure_at < now() - "
                  "interval '95 hours'") == 1);
}

TEST_CASE("a webhook switched on again has its five days again", "[webhooks][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    fail(s, webhook, 25, 121h);
    REQUIRE(is_off(s));
    s.scratch.execute("UPDATE webhooks.endpoints SET is_enabled = true, disabled_reason = NULL");

    fail(s, webhook, 25, 1h);

    CHECK_FALSE(is_off(s));
}

TEST_CASE("what is not the receiver's failure is not counted against it", "[webhooks][postgres]")
{
    suite s;
    const auto webhook =
        webhook_id::parse(s.create_webhook(s.hook.url()).webhook().webhook_id()).value();
    webhooks::delivery_outcome parked, succeeded;
    parked.webhook = succeeded.webhook = webhook;
    parked.account = succeeded.account = s.account;
    succeeded.has_attempt = true;
    succeeded.next = webhooks::delivery_outcome::state::succeeded;

    s.process.failures.note(parked);
    s.process.failures.note(succeeded);
    await(s.process.failures.check());

    CHECK(s.count("webhooks.failing_endpoints") == 0);
}
