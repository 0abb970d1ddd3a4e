#include "webhook-dispatcher/endpoints/failure_store.hpp"

#include "common/postgres/parameters.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

constexpr postgres::statement add_failures{"failures_add", R"(
INSERT INTO webhooks.failing_endpoints AS known (webhook_id, account_id, failures, first_failure_at, last_failure_at)
SELECT webhook_id, account_id, failures, timestamptz 'epoch' + first * interval '1 microsecond',
       timestamptz 'epoch' + last * interval '1 microsecond'
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[]) AS f(webhook_id, account_id, failures, first, last)
ORDER BY webhook_id
ON CONFLICT (webhook_id) DO UPDATE SET failures = known.failures + EXCLUDED.failures,
    first_failure_at = least(known.first_failure_at, EXCLUDED.first_failure_at),
    last_failure_at = greatest(known.last_failure_at, EXCLUDED.last_failure_at))"};

constexpr postgres::statement find_suspects{"failures_find_suspects", R"(
SELECT webhook_id, account_id FROM webhooks.failing_endpoints
WHERE failures >= 20 AND last_failure_at - first_failure_at >= interval '5 days' ORDER BY webhook_id LIMIT 100)"};

// A delivery lives seven days, so older events need not be read. A working webhook is found by its
// newest.
constexpr postgres::statement restart_count{"failures_count_anew", R"(
UPDATE webhooks.failing_endpoints f SET failures = 0, first_failure_at = s.at FROM (
    SELECT finished_at AS at FROM webhooks.deliveries
    WHERE webhook_id = $1::uuid AND state = 'succeeded'
      AND event_id > (SELECT webhooks.lowest_uuid(first_failure_at - interval '7 days') FROM webhooks.failing_endpoints
                      WHERE webhook_id = $1::uuid)
      AND finished_at > (SELECT first_failure_at FROM webhooks.failing_endpoints WHERE webhook_id = $1::uuid)
    ORDER BY event_id DESC LIMIT 1) s
WHERE f.webhook_id = $1::uuid)"};

constexpr postgres::statement clear_webhook{"failures_forget", R"(
DELETE FROM webhooks.failing_endpoints WHERE webhook_id = $1::uuid)"};

// Nothing was sent to it for longer than any schedule: it was deleted, or its failures are history.
constexpr postgres::statement purge_old{"failures_forget_old", R"(
DELETE FROM webhooks.failing_endpoints WHERE last_failure_at < now() - interval '14 days')"};

} // namespace

failure_store::failure_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement :
         {add_failures, find_suspects, restart_count, clear_webhook, purge_old})
        db_.prepare(statement);
}

awaitable<void> failure_store::add(std::vector<failure_count> counts)
{
    return db_.transact([counts = std::move(counts)](pqxx::work& tx) {
        std::vector<std::string> webhooks, accounts;
        std::vector<std::int64_t> failures, firsts, lasts;
        for (const auto& count : counts) {
            webhooks.push_back(count.webhook.text());
            accounts.push_back(count.account.text());
            failures.push_back(count.failures);
            firsts.push_back(to_unix_micros(count.first));
            lasts.push_back(to_unix_micros(count.last));
        }
        tx.exec_prepared0(add_failures.name, postgres::text_array(webhooks),
                          postgres::text_array(accounts), postgres::integer_array(failures),
                          postgres::integer_array(firsts), postgres::integer_array(lasts));
    });
}

awaitable<std::vector<failing_webhook>> failure_store::find_failing()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<failing_webhook> failing;
        for (const auto& row : tx.exec_prepared(find_suspects.name)) {
            const auto webhook = row[0].as<std::string>();
            if (tx.exec_prepared(restart_count.name, webhook).affected_rows() != 0)
                continue;
            failing.push_back({account_id::parse(row[1].as<std::string>()).value(),
                               webhook_id::parse(webhook).value()});
        }
        tx.exec_prepared0(purge_old.name);
        return failing;
    });
}

awaitable<void> failure_store::clear(webhook_id webhook)
{
    return db_.transact(
        [webhook](pqxx::work& tx) { tx.exec_prepared0(clear_webhook.name, webhook.text()); });
}

} // namespace tempinbox::webhooks
