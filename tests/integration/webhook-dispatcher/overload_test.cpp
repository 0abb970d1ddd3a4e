// What waits, for whatever reason, delays nothing else and does not grow without a bound.

#include "integration/webhook-dispatcher/suite.hpp"

#include <boost/asio/co_spawn.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::email;
using testing::email_record;
using testing::eventually;
using testing::suite;

namespace {

// As many outcomes as may be pending; none belongs to a delivery, so that writing them changes
// nothing.
void fill(webhooks::outcome_recorder& recorder)
{
    for (std::size_t i = 0; i < webhooks::outcome_recorder::max_pending; ++i) {
        webhooks::delivery_outcome outcome;
        outcome.event = event_id::make();
        outcome.webhook = webhook_id::make();
        outcome.account = account_id::make();
        outcome.lease = uuid::make_v7();
        recorder.record(std::move(outcome));
    }
}

void insert_due(suite& s, const std::string& webhook, int number, const std::string& overdue)
{
    s.scratch.execute(
        "INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, run_at) SELECT "
        "gen_random_uuid(), '" +
        webhook + "', '" + s.account.text() + "', now() - interval '" + overdue +
        "' FROM generate_series(1, " + std::to_string(number) + ")");
}

} // namespace

TEST_CASE("while outcomes wait to be written no event is ingested and nothing is claimed",
          "[webhooks][postgres]")
{
    suite s(testing::sends_nothing());
    s.create_webhook(s.hook.url());
    s.deliver({email_record(email(s.account))});
    s.free_leases();
    testing::dispatcher process(s.scratch.dsn());
    fill(process.recorder);
    process.claimer.start();
    process.replayer.start();
    const std::vector<kafka::record> batch{email_record(email(s.account))};
    bool is_handled = false;
    boost::asio::co_spawn(testing::test_host().executor(), process.ingest.handle(batch),
                          [&](const std::exception_ptr& error) { is_handled = !error; });

    CHECK_FALSE(eventually([&] { return is_handled; }, 500ms));
    CHECK(s.count("webhooks.due_deliveries WHERE lease_id IS NULL") == 1);
    CHECK(s.count("webhooks.due_deliveries") == 1);

    process.recorder.start();
    process.is_started = true;
    CHECK(eventually([&] { return is_handled; }));
    CHECK(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 2));
}

TEST_CASE("an ingest that finds no room gives up, and its batch comes again",
          "[webhooks][postgres]")
{
    suite s;
    fill(s.process.recorder);

    CHECK_THROWS_AS(s.deliver({email_record(email(s.account))}), dependency_error);
}

TEST_CASE("the age of the oldest waiting delivery leaves out broken endpoints, however much waits "
          "for them",
          "[webhooks][postgres]")
{
    suite s;
    const auto broken = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto sound = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const std::vector<webhook_id> left_out{webhook_id::parse(broken).value()};
    const auto age = [&](const std::vector<webhook_id>& without) {
        return await(s.process.queue.oldest_due_age(without));
    };
    CHECK(age({}) == 0ms);

    insert_due(s, broken, 10, "2 hours");
    CHECK(age({}) >= 2h);
    CHECK(age(left_out) == 0ms);
    insert_due(s, sound, 1, "1 minute");
    CHECK(age(left_out) >= 1min);
    CHECK(age(left_out) < 2min);

    insert_due(s, broken, 1'000, "1 hour");
    CHECK(age({}) >= 2h);
    CHECK(age(left_out) >= 1min);
    CHECK(age(left_out) < 2min);
}

TEST_CASE("what waits for an endpoint with an open breaker ends at once when the endpoint is "
          "switched off",
          "[webhooks][postgres]")
{
    suite s;
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.hook.respond_always(testing::receiver::scripted_response(500));
    std::vector<kafka::record> batch;
    for (int i = 0; i < 80; ++i)
        batch.push_back(email_record(email(s.account)));
    s.process.start();
    s.deliver(batch);
    REQUIRE(eventually([&] { return !s.process.engine.tripped().empty(); }));
    REQUIRE(s.becomes("webhooks.due_deliveries WHERE lease_id IS NULL", 80));
    const auto sent = s.hook.requests().size();

    await(s.process.endpoints.disable(s.account, webhook_id::parse(webhook).value(), "test"));
    s.scratch.execute("UPDATE webhooks.due_deliveries SET run_at = now()");
    const auto began = std::chrono::steady_clock::now();
    s.scratch.execute(
        "UPDATE webhooks.endpoints SET renewed_at = clock_timestamp()"); // its breaker may be
                                                                         // probed

    CHECK(s.becomes("webhooks.deliveries WHERE state = 'skipped_disabled'", 80));
    CHECK(std::chrono::steady_clock::now() - began < 10s);
    CHECK(s.hook.requests().size() == sent);
}
