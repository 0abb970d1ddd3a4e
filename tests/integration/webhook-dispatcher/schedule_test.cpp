#include "integration/webhook-dispatcher/deliveries_suite.hpp"
#include "integration/webhook-dispatcher/settable_clock.hpp"

#include "webhook-dispatcher/delivery/schedule.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::deliveries_suite;
using testing::email;
using testing::email_record;
using testing::sent_id;

namespace {

std::chrono::milliseconds until_next_attempt(deliveries_suite& s)
{
    const auto rows =
        s.scratch.execute("SELECT ceil(extract(epoch FROM run_at - clock.now()) * "
                          "1000)::bigint FROM webhooks.due_deliveries WHERE lease_id IS NULL");
    return std::chrono::milliseconds(rows.at(0).at(0).as<std::int64_t>());
}

} // namespace

TEST_CASE(
    "an endpoint that is down for the whole schedule shows as failed and gets the event on request",
    "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    testing::settable_clock clock(s.scratch);
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.hook.respond_always(testing::receiver::scripted_response(500, "down"));
    const auto mail = email(s.account);
    std::chrono::milliseconds waited{0};

    // Replicas come and go over the three days, so each attempt may be another's.
    for (int number = 1; number <= webhooks::attempt_limit; ++number) {
        testing::dispatcher process(s.scratch.dsn());
        process.start();
        if (number == 1)
            await(process.ingest.handle({email_record(mail)}));
        REQUIRE(s.hook.got(static_cast<std::size_t>(number)));
        if (number == webhooks::attempt_limit)
            break;
        REQUIRE(s.becomes("webhooks.due_deliveries WHERE lease_id IS NULL AND attempts = " +
                              std::to_string(number),
                          1));

        const auto wait = until_next_attempt(s);
        const auto base = webhooks::base_wait(number + 1);
        INFO("before attempt " << number + 1);
        CHECK(wait >= base * 8 / 10 - 5s);
        CHECK(wait <= base * 12 / 10);
        waited += wait;
        clock.advance(wait + 1ms);
    }
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'exhausted' AND attempts = 10", 1));
    CHECK(waited > 54h);
    CHECK(waited < 84h);
    CHECK(s.hook.requests().size() == 10);

    testing::dispatcher process(s.scratch.dsn());
    process.start();
    webhooks::v1::ListDeliveriesRequest list;
    list.set_account_id(s.account.text());
    list.set_webhook_id(webhook);
    list.set_status("failed");
    const auto failed = await(process.delivery_rpc.list(list)).value();
    REQUIRE(failed.deliveries_size() == 1);
    CHECK(failed.deliveries(0).attempts_size() == 10);
    CHECK(failed.deliveries(0).attempts(9).response_body() == "down");

    s.hook.respond_always(testing::receiver::scripted_response(200));
    auto request = s.replay_request(webhook);
    request.mutable_since()->set_seconds(request.since().seconds() - 7 * 86'400);
    CHECK(await(process.delivery_rpc.replay(request)).value().replayed() == 1);
    REQUIRE(s.hook.got(11));
    CHECK(sent_id(s.hook.requests().back()) == mail.email_id());
    CHECK(s.hook.requests().back().body == s.hook.requests().front().body);
    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
}

TEST_CASE("a receiver that asks for time gets it", "[webhooks][postgres]")
{
    deliveries_suite s;
    s.process.start();
    s.create_webhook(s.hook.url());
    testing::receiver::scripted_response busy(503);
    busy.headers = {{"Retry-After", "1800"}};
    s.hook.respond_with({busy});

    s.deliver({email_record(email(s.account))});

    REQUIRE(s.becomes("webhooks.due_deliveries WHERE attempts = 1 AND lease_id IS NULL", 1));
    CHECK(s.count("webhooks.due_deliveries WHERE run_at BETWEEN now() + interval '29 minutes' AND "
                  "now() + "
                  "interval '36 minutes'") == 1);
}

TEST_CASE("a failure of our own resolver parks a delivery and leaves no attempt",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    webhooks::name_resolver_settings deaf;
    deaf.servers = "127.0.0.1:1";
    deaf.deadline = 300ms;
    testing::dispatcher process(s.scratch.dsn(), testing::loopback_policy(), {}, deaf);
    process.start();
    await(process.webhook_rpc.create(
              testing::webhook_request(s.account, "http://hooks.example.com/")))
        .value();

    await(process.ingest.handle({email_record(email(s.account))}));

    REQUIRE(s.becomes("webhooks.due_deliveries WHERE attempts = 0 AND lease_id IS NULL AND run_at "
                      "> now() + interval '2 s'",
                      1));
    CHECK(s.count("webhooks.attempts") == 0);
}

TEST_CASE("a delivery kept waiting for seven days ends without a request", "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    s.deliver({email_record(email(s.account))});
    s.free_leases();
    s.scratch.execute(
        "UPDATE webhooks.due_deliveries SET created_at = created_at - interval '7 days'");

    testing::dispatcher process(s.scratch.dsn());
    process.start();

    CHECK(s.becomes("webhooks.deliveries WHERE state = 'exhausted' AND attempts = 0 AND reason = "
                    "'not delivered within seven days'",
                    1));
    CHECK(s.hook.requests().empty());
}
