#include "webhook-dispatcher/delivery/outcome_store.hpp"

#include "common/postgres/parameters.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

using postgres::integer_array;
using postgres::text_array;

// Each row is found by its key, then changed by its ctid: a plan made while webhooks.due_deliveries
// was empty would otherwise compare each outcome with every leased row (docs/decisions/0006). Only
// the holder of the lease changes a leased row: either its ctid is still right, or the row is no
// longer ours.
constexpr postgres::statement finish_batch{"deliveries_finish", R"(
WITH outcome AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::int[], $7::bigint[], $8::bigint[], $9::int[],
                         $10::int[], $11::text[], $12::text[])
        AS o(event_id, webhook_id, account_id, lease_id, state, attempts, wait, at, took, status, error, response_body)
), held AS MATERIALIZED (
    SELECT o.*, (SELECT d.ctid FROM webhooks.due_deliveries d WHERE d.webhook_id = o.webhook_id AND d.event_id = o.event_id
                   AND d.lease_id IS NOT DISTINCT FROM o.lease_id OFFSET 0) AS place
    FROM outcome o
), finished AS (
    DELETE FROM webhooks.due_deliveries d USING held o
    WHERE o.state <> 'waiting' AND d.ctid = o.place AND d.lease_id IS NOT DISTINCT FROM o.lease_id
    RETURNING d.event_id, d.webhook_id, d.account_id, o.state, o.attempts, coalesce(nullif(o.status, 0), d.last_status) AS last_status,
              nullif(o.error, '') AS reason, d.rule_ids, d.created_at, d.is_test
), kept AS (
    UPDATE webhooks.due_deliveries d SET attempts = o.attempts, is_retry = d.is_retry OR o.attempts > 0, run_at = clock_timestamp() + o.wait * interval '1 millisecond',
           lease_id = NULL, lease_until = NULL, last_status = coalesce(nullif(o.status, 0), d.last_status)
    FROM held o
    WHERE o.state = 'waiting' AND d.ctid = o.place AND d.lease_id IS NOT DISTINCT FROM o.lease_id
), delivered AS (
    INSERT INTO webhooks.deliveries AS known (event_id, webhook_id, account_id, state, attempts, last_status, reason, rule_ids, created_at, is_test)
    SELECT event_id, webhook_id, account_id, state, attempts, last_status, reason, rule_ids, created_at, is_test FROM finished
    WHERE state <> 'dropped'
    ON CONFLICT (event_id, webhook_id) DO UPDATE SET state = EXCLUDED.state, attempts = EXCLUDED.attempts,
        last_status = EXCLUDED.last_status, reason = EXCLUDED.reason, finished_at = EXCLUDED.finished_at
)
INSERT INTO webhooks.attempts (event_id, webhook_id, number, lease_id, account_id, at, duration_ms, status, error, response_body)
SELECT event_id, webhook_id, attempts, lease_id, account_id, timestamptz 'epoch' + at * interval '1 microsecond', took,
       nullif(status, 0), nullif(error, ''), nullif(response_body, '')
FROM outcome WHERE at <> 0
ON CONFLICT DO NOTHING)"};

} // namespace

outcome_store::outcome_store(postgres::pool& db) : db_(db)
{
    db_.prepare(finish_batch);
}

awaitable<void> outcome_store::write(const std::vector<delivery_outcome>& outcomes)
{
    // In the order of their keys, like every writer of several rows.
    std::vector<const delivery_outcome*> sorted;
    sorted.reserve(outcomes.size());
    for (const auto& outcome : outcomes)
        sorted.push_back(&outcome);
    std::sort(sorted.begin(), sorted.end(),
              [](const delivery_outcome* a, const delivery_outcome* b) {
                  return std::tie(a->event, a->webhook) < std::tie(b->event, b->webhook);
              });

    std::vector<std::string> events, webhooks, accounts, leases, states, errors, bodies;
    std::vector<std::int64_t> attempts, waits, times, durations, statuses;
    for (const auto* outcome : sorted) {
        events.push_back(outcome->event.text());
        webhooks.push_back(outcome->webhook.text());
        accounts.push_back(outcome->account.text());
        leases.push_back(outcome->lease.text());
        states.emplace_back(to_string(outcome->next));
        attempts.push_back(outcome->attempts);
        waits.push_back(outcome->wait.count());
        times.push_back(outcome->has_attempt ? to_unix_micros(outcome->at) : 0);
        durations.push_back(outcome->took.count());
        statuses.push_back(outcome->status);
        errors.push_back(outcome->error);
        bodies.push_back(outcome->response_body);
    }
    return db_.run([events = text_array(events), webhooks = text_array(webhooks),
                    accounts = text_array(accounts), leases = text_array(leases),
                    states = text_array(states), attempts = integer_array(attempts),
                    waits = integer_array(waits), times = integer_array(times),
                    durations = integer_array(durations), statuses = integer_array(statuses),
                    errors = text_array(errors),
                    bodies = text_array(bodies)](pqxx::connection_base& connection) {
        pqxx::nontransaction tx(connection);
        tx.exec_prepared(finish_batch.name, events, webhooks, accounts, leases, states, attempts,
                         waits, times, durations, statuses, errors, bodies);
    });
}

} // namespace tempinbox::webhooks
