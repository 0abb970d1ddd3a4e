#include "integration/common/postgres/rows_read.hpp"
#include "integration/webhook-dispatcher/deliveries_suite.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::deliveries_suite;
using testing::email;
using testing::email_record;

namespace {

// Deliveries of events later than all others of the test.
void add_exhausted(deliveries_suite& s, int number)
{
    s.scratch.execute("INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, "
                      "attempts, rule_ids, created_at) "
                      "SELECT (left(e::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, webhook_id, "
                      "account_id, 'exhausted', 10, '{}', now() "
                      "FROM webhooks.endpoints, webhooks.lowest_uuid(now() + interval '1 minute') "
                      "e, generate_series(1, " +
                      std::to_string(number) + ") n");
}

} // namespace

TEST_CASE("the log shows a delivery with its attempts, what the receiver said, and why it got it",
          "[webhooks][postgres]")
{
    deliveries_suite s;
    s.process.start();
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto rule = s.create_rule(webhook, "invoice");
    s.hook.respond_with({testing::receiver::scripted_response(500, std::string(3'000, 'x'))});
    const auto mail = email(s.account, "Invoice 1");
    s.deliver({email_record(mail)});
    REQUIRE(s.becomes("webhooks.due_deliveries WHERE attempts = 1 AND lease_id IS NULL", 1));

    const auto page = s.list(webhook).value();

    REQUIRE(page.deliveries_size() == 1);
    const auto& pending = page.deliveries(0);
    CHECK(pending.event_id() == mail.email_id());
    CHECK(pending.event() == "email.received");
    CHECK(pending.status() == "pending");
    CHECK(pending.has_next_attempt_at());
    REQUIRE(pending.attempts_size() == 1);
    CHECK(pending.attempts(0).status_code() == 500);
    CHECK(pending.attempts(0).response_body() == std::string(1'024, 'x'));
    REQUIRE(pending.rule_ids_size() == 1);
    CHECK(pending.rule_ids(0) == rule);

    s.scratch.execute("UPDATE webhooks.due_deliveries SET run_at = now()");
    REQUIRE(s.becomes("webhooks.deliveries WHERE state = 'succeeded'", 1));
    const auto done = s.list(webhook).value().deliveries(0);
    CHECK(done.delivery_id() == pending.delivery_id());
    CHECK(done.status() == "succeeded");
    CHECK_FALSE(done.has_next_attempt_at());
    REQUIRE(done.attempts_size() == 2);
    CHECK(done.attempts(1).status_code() == 200);
    CHECK(done.created_at().seconds() == pending.created_at().seconds());
    const auto alone = s.get(webhook, done.delivery_id()).value().delivery();
    CHECK(alone.SerializeAsString() == done.SerializeAsString());
}

TEST_CASE("the log is read page by page, newest first, each delivery once while others come and go",
          "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    auto expected = s.fail(7);
    const auto waiting = email(s.account);
    s.deliver({email_record(waiting)});
    expected.push_back(waiting.email_id());

    std::vector<std::string> seen;
    std::string cursor;
    do {
        const auto page = s.list(webhook, "", 3, cursor).value();
        for (const auto& delivery : page.deliveries())
            seen.push_back(delivery.event_id());
        cursor = page.next_cursor();
        s.deliver({email_record(email(s.account))}); // newer: on no later page
    } while (!cursor.empty());

    CHECK(seen == std::vector<std::string>(expected.rbegin(), expected.rend()));
}

TEST_CASE("the log is read oldest first, and what comes meanwhile is on its last pages",
          "[webhooks][list-order][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    auto expected = s.fail(5);
    const auto deliver = [&] {
        const auto waiting = email(s.account);
        s.deliver({email_record(waiting)});
        expected.push_back(waiting.email_id());
    };
    deliver();

    std::vector<std::string> seen;
    std::string cursor;
    do {
        const auto page = s.list(webhook, "", 3, cursor, true).value();
        for (const auto& delivery : page.deliveries())
            seen.push_back(delivery.event_id());
        if (cursor.empty())
            deliver();
        cursor = page.next_cursor();
    } while (!cursor.empty());

    CHECK(seen == expected);
}

TEST_CASE("the log can be read by status oldest first, and a cursor belongs to its order",
          "[webhooks][list-order][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto finished = s.fail(4);
    s.scratch.execute("UPDATE webhooks.deliveries SET state = 'succeeded' WHERE event_id IN ('" +
                      finished[1] + "', '" + finished[2] + "')");
    s.deliver({email_record(email(s.account)), email_record(email(s.account))});

    for (const auto* status : {"", "pending", "succeeded", "failed"}) {
        INFO("status " << status);
        const auto newest = s.list(webhook, status).value();
        const auto first = s.list(webhook, status, 1, "", true).value();
        const auto second = s.list(webhook, status, 1, first.next_cursor(), true).value();
        const auto count = newest.deliveries_size();

        REQUIRE(count >= 2);
        CHECK(first.deliveries(0).event_id() == newest.deliveries(count - 1).event_id());
        CHECK(second.deliveries(0).event_id() == newest.deliveries(count - 2).event_id());
        const auto mixed = s.list(webhook, status, 1, first.next_cursor());
        CHECK(mixed.error().reason == error_reason::invalid_cursor);
    }
}

TEST_CASE("a search for succeeded ones from the oldest on goes on past 2,000 failed ones",
          "[webhooks][list-order][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    add_exhausted(s, 2'500);
    s.scratch.execute("WITH newest AS (UPDATE webhooks.deliveries SET state = 'succeeded' "
                      "WHERE event_id = (SELECT event_id FROM webhooks.deliveries "
                      "ORDER BY event_id DESC LIMIT 1) RETURNING event_id, account_id) "
                      "INSERT INTO webhooks.events (event_id, account_id, type, occurred_at, body) "
                      "SELECT event_id, account_id, 'email.received', now(), '{}' FROM newest");

    const auto first = s.list(webhook, "succeeded", 0, "", true).value();
    REQUIRE_FALSE(first.next_cursor().empty());
    const auto second = s.list(webhook, "succeeded", 0, first.next_cursor(), true).value();

    CHECK(first.deliveries_size() == 0);
    CHECK(second.deliveries_size() == 1);
    CHECK(second.next_cursor().empty());
}

TEST_CASE("a page of a long log reads few rows from either end", "[webhooks][list-order][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook =
        webhook_id::parse(s.create_webhook(s.hook.url()).webhook().webhook_id()).value();
    add_exhausted(s, 2'000);
    s.scratch.execute("ANALYZE webhooks.deliveries");
    postgres::pool db(testing::test_host(), testing::one_connection(s.scratch));
    webhooks::delivery_repository log(db);
    const std::optional<webhooks::delivery_status> any, failed = webhooks::delivery_status::failed;
    for (const auto order : {list_order::newest_first, list_order::oldest_first}) {
        for (const auto status : {any, failed}) {
            const auto before = testing::rows_read(db, s.scratch, "^deliveries");

            const auto first = await(log.list(s.account, webhook, status, order, {}, 10)).value();
            REQUIRE(first.next);
            await(log.list(s.account, webhook, status, order, first.next, 10)).value();

            CHECK(testing::rows_read(db, s.scratch, "^deliveries") - before < 200);
        }
    }
}

TEST_CASE("a page that is full to the last has no next", "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    s.fail(4);

    CHECK(s.list(webhook, "", 4).value().next_cursor().empty());
    CHECK_FALSE(s.list(webhook, "", 3).value().next_cursor().empty());
    CHECK(s.list(webhook, "failed", 4).value().next_cursor().empty());
}

TEST_CASE("the log can be read by status", "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto finished = s.fail(5);
    s.scratch.execute("UPDATE webhooks.deliveries SET state = 'succeeded' WHERE event_id = '" +
                      finished[1] + "'");
    s.scratch.execute(
        "UPDATE webhooks.deliveries SET state = 'skipped_disabled' WHERE event_id = '" +
        finished[2] + "'");
    s.scratch.execute("UPDATE webhooks.deliveries SET state = 'aborted' WHERE event_id = '" +
                      finished[3] + "'");
    s.deliver({email_record(email(s.account))});

    CHECK(s.list(webhook, "pending").value().deliveries_size() == 1);
    const auto succeeded = s.list(webhook, "succeeded").value();
    REQUIRE(succeeded.deliveries_size() == 1);
    CHECK(succeeded.deliveries(0).event_id() == finished[1]);
    CHECK(s.list(webhook, "failed").value().deliveries_size() == 4);
    CHECK(s.list(webhook).value().deliveries_size() == 6);
}

TEST_CASE(
    "a search for few succeeded among many failed ones ends each page after 2,000 and finds them",
    "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto old = s.fail(1);
    s.scratch.execute("UPDATE webhooks.deliveries SET state = 'succeeded'");
    add_exhausted(s, 2'500);

    const auto first = s.list(webhook, "succeeded").value();
    CHECK(first.deliveries_size() == 0);
    REQUIRE_FALSE(first.next_cursor().empty());
    const auto second = s.list(webhook, "succeeded", 0, first.next_cursor()).value();

    REQUIRE(second.deliveries_size() == 1);
    CHECK(second.deliveries(0).event_id() == old[0]);
    CHECK(second.next_cursor().empty());
}

TEST_CASE("another account's log does not exist", "[webhooks][postgres]")
{
    deliveries_suite s(testing::sends_nothing());
    const auto webhook = s.create_webhook(s.hook.url()).webhook().webhook_id();
    const auto events = s.fail(1);
    auto retry = s.retry_request(webhook, events[0]);
    auto test = s.test_request(webhook);
    auto replay = s.replay_request(webhook);
    s.account = account_id::make();
    await(s.process.webhook_rpc.create(testing::webhook_request(s.account, s.hook.url()))).value();
    retry.set_account_id(s.account.text());
    test.set_account_id(s.account.text());
    replay.set_account_id(s.account.text());

    CHECK(s.list(webhook).error().code == errc::not_found);
    CHECK(s.get(webhook, retry.delivery_id()).error().code == errc::not_found);
    CHECK(await(s.process.delivery_rpc.retry(retry)).error().code == errc::not_found);
    CHECK(await(s.process.delivery_rpc.test(test)).error().code == errc::not_found);
    CHECK(await(s.process.delivery_rpc.replay(replay)).error().code == errc::not_found);
    CHECK(s.hook.requests().empty());
    CHECK(s.count("webhooks.deliveries WHERE state = 'exhausted'") == 1);
}
