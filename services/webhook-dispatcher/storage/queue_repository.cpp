#include "webhook-dispatcher/storage/queue_repository.hpp"

#include "common/postgres/autocommit.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/composite_type.hpp"
#include "common/postgres/session.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tempinbox::webhooks {
namespace {

using postgres::binary_array;
using postgres::column;
using postgres::run_autocommit;
using postgres::to_array;

// OFFSET 0 keeps the look-ups from becoming joins over all partitions: each is one index probe into
// the partition of the event's day. The bounds of the batch ($6, $7) limit them to the partitions
// of its days, which takes a third of the time that a month's take. `decided` is false if a
// configuration is not the one that the batch was routed by; the sub-query keeps that one index
// probe an account.
constexpr postgres::statement insert_batch{"deliveries_insert", R"(
WITH decided AS MATERIALIZED (
    SELECT NOT EXISTS (
        SELECT 1 FROM unnest($8::uuid[], $9::bigint[]) AS c(account_id, version)
        WHERE c.version IS DISTINCT FROM (
            SELECT v.version FROM webhooks.config_versions v WHERE v.account_id = c.account_id)
        ) AS is_current
), incoming AS MATERIALIZED (
    SELECT * FROM unnest($2::webhooks.new_delivery[])
        AS i(event_id, webhook_id, account_id, start, wait, rule_ids)
), fresh AS MATERIALIZED (
    SELECT i.* FROM incoming i
    WHERE (SELECT is_current FROM decided)
      AND NOT EXISTS (SELECT 1 FROM webhooks.due_deliveries d
                      WHERE d.account_id = i.account_id AND d.webhook_id = i.webhook_id
                        AND d.event_id = i.event_id OFFSET 0)
      AND NOT EXISTS (SELECT 1 FROM webhooks.deliveries f
                      WHERE f.account_id = i.account_id AND f.webhook_id = i.webhook_id
                        AND f.event_id = i.event_id
                        AND f.event_id BETWEEN $6::uuid AND $7::uuid OFFSET 0)
), events AS (
    INSERT INTO webhooks.events (event_id, account_id, type, occurred_at, body, traceparent)
    SELECT e.event_id, e.account_id, e.type, e.occurred_at, convert_to(e.body, 'UTF8'),
           nullif(e.traceparent, '')
    FROM unnest($1::webhooks.new_event[])
        AS e(event_id, account_id, type, occurred_at, body, traceparent)
    WHERE (SELECT is_current FROM decided)
    ON CONFLICT (account_id, event_id) DO NOTHING
), skipped AS (
    INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, attempts, rule_ids,
        created_at)
    SELECT event_id, webhook_id, account_id, 'skipped_disabled', 0, rule_ids, now()
        FROM fresh WHERE start = 'skipped'
    ON CONFLICT (account_id, webhook_id, event_id) DO NOTHING
), matches AS MATERIALIZED (
    SELECT * FROM unnest($3::webhooks.new_routing[])
        AS m(account_id, rule_ids, matched, event_ids)
), routed AS (
    INSERT INTO webhooks.routings (event_id, account_id, rule_ids, matched)
    SELECT r.event_id, m.account_id, m.rule_ids, m.matched FROM matches m
        CROSS JOIN LATERAL unnest(m.event_ids) AS r(event_id)
    WHERE (SELECT is_current FROM decided)
    ON CONFLICT (account_id, event_id) DO NOTHING
), queued AS (
    INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, run_at, lease_id,
        lease_until, rule_ids)
    SELECT event_id, webhook_id, account_id, now() + wait * interval '1 microsecond',
           CASE WHEN start = 'leased' THEN $4::uuid END,
           CASE WHEN start = 'leased' THEN clock_timestamp() + $5 * interval '1 millisecond' END,
           rule_ids
    FROM fresh WHERE start <> 'skipped' ORDER BY event_id, webhook_id
    ON CONFLICT (account_id, webhook_id, event_id) DO NOTHING
    RETURNING event_id, webhook_id, lease_id
)
SELECT is_current, event_id, webhook_id FROM decided LEFT JOIN queued ON lease_id IS NOT NULL)"};

// A page of due deliveries in the order of due_deliveries_waiting; only the queues of its rows
// leave the database.
constexpr postgres::statement find_due_page{"deliveries_find_due", R"(
WITH page AS MATERIALIZED (
    SELECT run_at, event_id, webhook_id, is_retry, account_id FROM webhooks.due_deliveries
    WHERE lease_id IS NULL AND run_at <= now()
      AND (run_at, event_id, webhook_id) > (timestamptz 'epoch' + $1 * interval '1 microsecond',
          $2::uuid, $3::uuid)
    ORDER BY run_at, event_id, webhook_id LIMIT $4
)
SELECT queue.account_id, queue.webhook_id, queue.is_retry, last.rows,
    (extract(epoch FROM last.run_at) * 1000000)::bigint AS last_run_at,
    last.event_id AS last_event_id, last.webhook_id AS last_webhook_id
FROM (SELECT DISTINCT account_id, webhook_id, is_retry FROM page) queue
CROSS JOIN (SELECT run_at, event_id, webhook_id, (SELECT count(*) FROM page) AS rows FROM page
            ORDER BY run_at DESC, event_id DESC, webhook_id DESC LIMIT 1) last)"};

// `queue` steps from queue to queue by due_deliveries_waiting_for_webhook and reads the oldest
// delivery of each: one index probe a queue, however much waits in it.
const std::string each_queue = R"(
WITH RECURSIVE queue AS (
    (SELECT account_id, webhook_id, is_retry, run_at FROM webhooks.due_deliveries
        WHERE lease_id IS NULL ORDER BY account_id, webhook_id, is_retry, run_at LIMIT 1)
    UNION ALL
    SELECT following.* FROM queue CROSS JOIN LATERAL (
        SELECT account_id, webhook_id, is_retry, run_at FROM webhooks.due_deliveries
        WHERE lease_id IS NULL AND (account_id, webhook_id, is_retry)
            > (queue.account_id, queue.webhook_id, queue.is_retry)
        ORDER BY account_id, webhook_id, is_retry, run_at LIMIT 1) following
))";

const std::string find_due_queues_sql =
    each_queue + "SELECT account_id, webhook_id, is_retry FROM queue WHERE run_at <= now()";
const postgres::statement find_due_queues{"deliveries_find_due_queues",
                                          find_due_queues_sql.c_str()};

constexpr postgres::statement next_due{"deliveries_next_due", R"(
SELECT ceil(extract(epoch FROM min(run_at) - now()) * 1000)::bigint AS milliseconds
    FROM webhooks.due_deliveries
    WHERE lease_id IS NULL AND run_at > now())"};

// If PostgreSQL crashes and loses a claim, nothing is harmed: the commit need not wait for the
// disk. Rows are updated at the ctid where they were locked: joined by their keys, a plan made
// while the queue was empty would read the whole of a full one.
constexpr postgres::statement claim_due{"deliveries_claim", R"(
WITH request AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::int[])
        AS w(account_id, webhook_id, is_retry, capacity)
), locked AS MATERIALIZED (
    SELECT d.row_at FROM request w CROSS JOIN LATERAL (
        SELECT ctid AS row_at FROM webhooks.due_deliveries
        WHERE account_id = w.account_id AND webhook_id = w.webhook_id AND is_retry = w.is_retry
            AND lease_id IS NULL AND run_at <= now()
        ORDER BY run_at LIMIT w.capacity FOR UPDATE SKIP LOCKED) d
), claimed AS (
    UPDATE webhooks.due_deliveries d
    SET lease_id = $5::uuid, lease_until = clock_timestamp() + $6 * interval '1 millisecond'
    FROM locked l WHERE d.ctid = l.row_at
    RETURNING d.event_id, d.webhook_id, d.account_id, d.attempts, d.is_retry,
        coalesce(d.began_at, d.created_at) AS began_at
)
SELECT event_id, webhook_id, account_id, attempts, is_retry,
    (extract(epoch FROM began_at) * 1000000)::bigint AS began_at,
    set_config('synchronous_commit', 'off', true)
FROM claimed)"};

// Each row is found by its key, then changed by its ctid: a plan made while webhooks.due_deliveries
// was empty would otherwise compare each outcome with every leased row (docs/decisions/0006). Only
// the holder of the lease changes a leased row: either its ctid is still right, or the row is no
// longer ours.
constexpr postgres::statement finish_batch{"deliveries_finish", R"(
WITH outcome AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::int[],
        $7::bigint[], $8::bigint[], $9::int[], $10::int[], $11::text[], $12::text[])
        AS o(event_id, webhook_id, account_id, lease_id, state, attempts, wait, at, took, status,
            error, response_body)
), held AS MATERIALIZED (
    SELECT o.*, (SELECT d.ctid FROM webhooks.due_deliveries d
                 WHERE d.account_id = o.account_id AND d.webhook_id = o.webhook_id
                   AND d.event_id = o.event_id
                   AND d.lease_id IS NOT DISTINCT FROM o.lease_id OFFSET 0) AS row_at
    FROM outcome o
), finished AS (
    DELETE FROM webhooks.due_deliveries d USING held o
    WHERE o.state <> 'waiting' AND d.ctid = o.row_at AND d.lease_id IS NOT DISTINCT FROM o.lease_id
    RETURNING d.event_id, d.webhook_id, d.account_id, o.state, o.attempts,
        coalesce(nullif(o.status, 0), d.last_status) AS last_status,
              nullif(o.error, '') AS reason, d.rule_ids, d.created_at, d.is_test
), kept AS (
    UPDATE webhooks.due_deliveries d
    SET attempts = o.attempts, is_retry = d.is_retry OR o.attempts > 0,
        run_at = clock_timestamp() + o.wait * interval '1 millisecond',
        lease_id = NULL, lease_until = NULL,
        last_status = coalesce(nullif(o.status, 0), d.last_status)
    FROM held o
    WHERE o.state = 'waiting' AND d.ctid = o.row_at AND d.lease_id IS NOT DISTINCT FROM o.lease_id
), delivered AS (
    INSERT INTO webhooks.deliveries AS known (event_id, webhook_id, account_id, state, attempts,
        last_status, reason, rule_ids, created_at, is_test)
    SELECT event_id, webhook_id, account_id, state, attempts, last_status, reason, rule_ids,
        created_at, is_test FROM finished
    WHERE state <> 'dropped'
    ON CONFLICT (account_id, webhook_id, event_id) DO UPDATE
    SET state = EXCLUDED.state, attempts = EXCLUDED.attempts, last_status = EXCLUDED.last_status,
        reason = EXCLUDED.reason, finished_at = EXCLUDED.finished_at
)
INSERT INTO webhooks.attempts (event_id, webhook_id, number, lease_id, account_id, at, duration_ms,
    status, error, response_body)
SELECT event_id, webhook_id, attempts, lease_id, account_id,
    timestamptz 'epoch' + at * interval '1 microsecond', took,
       nullif(status, 0), nullif(error, ''), nullif(response_body, '')
FROM outcome WHERE at <> 0
ON CONFLICT DO NOTHING)"};

// A cached plan skips the partitions of other days by the bounds, not by the array.
constexpr postgres::statement find_bodies{"deliveries_find_bodies", R"(
SELECT claimed.event_id, e.body, e.traceparent
FROM unnest($1::uuid[], $2::uuid[]) AS claimed(account_id, event_id) CROSS JOIN LATERAL (
    SELECT convert_from(body, 'UTF8') AS body, traceparent FROM webhooks.events
    WHERE account_id = claimed.account_id AND event_id = claimed.event_id
        AND event_id BETWEEN $3::uuid AND $4::uuid OFFSET 0) AS e)"};

constexpr postgres::statement release_leases{"deliveries_release_leases", R"(
UPDATE webhooks.due_deliveries SET lease_id = NULL, lease_until = NULL
WHERE (account_id, webhook_id, event_id) IN (
    SELECT account_id, webhook_id, event_id FROM webhooks.due_deliveries WHERE lease_until < now()
        ORDER BY lease_until LIMIT 1000 FOR UPDATE SKIP LOCKED))"};

constexpr postgres::statement renewed_endpoints{"deliveries_find_renewed_endpoints", R"(
SELECT webhook_id, (extract(epoch FROM renewed_at) * 1000000)::bigint AS renewed_at
FROM webhooks.endpoints AS e WHERE e.renewed_at > now() - interval '1 minute')"};

// Looks at the first rows only. `is_past_page`: all of them are left out, so the oldest may be past
// them.
constexpr postgres::statement oldest_age{"deliveries_oldest_age", R"(
WITH page AS MATERIALIZED (SELECT run_at, webhook_id FROM webhooks.due_deliveries
    WHERE lease_id IS NULL ORDER BY run_at LIMIT $2)
SELECT greatest(0, extract(epoch FROM now() - (
           SELECT min(run_at) FROM page WHERE webhook_id <> ALL ($1::uuid[]))) * 1000)::bigint
           AS milliseconds,
       (SELECT count(*) = $2 AND bool_and(webhook_id = ANY ($1::uuid[])) FROM page)
           AS is_past_page)"};

const std::string oldest_age_by_queue_sql = each_queue + R"(
SELECT greatest(0, extract(epoch FROM now() - min(run_at)) * 1000)::bigint AS milliseconds
    FROM queue
    WHERE webhook_id <> ALL ($1::uuid[]))";
const postgres::statement oldest_age_by_queue{"deliveries_oldest_age_by_queue",
                                              oldest_age_by_queue_sql.c_str()};

constexpr int rows_of_oldest = 1'000;

constexpr const char* nil_uuid = "00000000-0000-0000-0000-000000000000";

std::string_view to_string(new_delivery::start how)
{
    switch (how) {
    case new_delivery::start::leased:
        return "leased";
    case new_delivery::start::waiting:
        return "waiting";
    case new_delivery::start::skipped:
        return "skipped";
    }
    return {};
}

std::vector<rule_id> ids_of(const std::vector<rule_match>& rules)
{
    std::vector<rule_id> ids;
    ids.reserve(rules.size());
    for (const auto& rule : rules)
        ids.push_back(rule.rule);
    return ids;
}

std::vector<bool> flags_of(const std::vector<rule_match>& rules)
{
    std::vector<bool> flags;
    flags.reserve(rules.size());
    for (const auto& rule : rules)
        flags.push_back(rule.matched);
    return flags;
}

// Events of one account with the same rule matches are sent as one row of parameters.
using matches_of_events =
    std::map<std::pair<account_id, std::vector<rule_match>>, std::vector<event_id>>;

matches_of_events group_by_matches(const std::vector<new_routing>& routings)
{
    matches_of_events matches;
    for (const auto& routing : routings)
        matches[{routing.account, routing.rules}].push_back(routing.event);
    return matches;
}

// The lowest and the highest id, between which a statement searches.
std::pair<std::string, std::string> bounds_of(const std::vector<event_id>& ids)
{
    if (ids.empty())
        return {nil_uuid, nil_uuid};
    const auto [first, last] = std::minmax_element(ids.begin(), ids.end());
    return {first->text(), last->text()};
}

// What insert_batch takes, gathered on the loop. The composite types' OIDs are known once there is
// a connection, so the arrays are made on the worker.
struct insert_parameters
{
    std::vector<new_event> events;
    std::vector<new_delivery> deliveries;
    matches_of_events matches;
    std::vector<account_id> accounts;
    std::vector<std::int64_t> versions;
    uuid lease;
};

pqxx::binarystring event_array(pqxx::transaction_base& tx, const std::vector<new_event>& events)
{
    binary_array array(postgres::composite_oid(tx, "webhooks.new_event"));
    for (const auto& event : events)
        array.add_row(event.id, event.account, to_string(event.kind), event.occurred_at, event.body,
                      event.traceparent);
    return array.parameter();
}

pqxx::binarystring delivery_array(pqxx::transaction_base& tx,
                                  const std::vector<new_delivery>& deliveries)
{
    binary_array array(postgres::composite_oid(tx, "webhooks.new_delivery"));
    for (const auto& delivery : deliveries) {
        const std::int64_t wait = std::chrono::microseconds(delivery.wait).count();
        array.add_row(delivery.event, delivery.webhook, delivery.account, to_string(delivery.how),
                      wait, delivery.rules);
    }
    return array.parameter();
}

pqxx::binarystring routing_array(pqxx::transaction_base& tx, const matches_of_events& matches)
{
    binary_array array(postgres::composite_oid(tx, "webhooks.new_routing"));
    for (const auto& [matched, events] : matches)
        array.add_row(matched.first, ids_of(matched.second), flags_of(matched.second), events);
    return array.parameter();
}

pqxx::result run_insert(pqxx::transaction_base& tx, const insert_parameters& batch)
{
    std::vector<event_id> ids;
    ids.reserve(batch.deliveries.size());
    for (const auto& delivery : batch.deliveries)
        ids.push_back(delivery.event);
    const auto [lowest, highest] = bounds_of(ids);
    return postgres::exec_prepared(
        tx, insert_batch.name, event_array(tx, batch.events), delivery_array(tx, batch.deliveries),
        routing_array(tx, batch.matches), batch.lease.text(), lease_time.count(), lowest, highest,
        to_array(batch.accounts), to_array(batch.versions));
}

due_queue read_queue(const pqxx::row& row)
{
    return {column<account_id>(row, "account_id"), column<webhook_id>(row, "webhook_id"),
            column<bool>(row, "is_retry") ? queue_kind::retry : queue_kind::first};
}

std::optional<std::chrono::milliseconds> read_milliseconds(const pqxx::row& row)
{
    const auto count = column<std::optional<std::int64_t>>(row, "milliseconds");
    return count ? std::optional(std::chrono::milliseconds{*count}) : std::nullopt;
}

void add_bodies(pqxx::nontransaction& tx, std::vector<claimed_delivery>& claimed)
{
    if (claimed.empty())
        return;
    // An event may be due to several webhooks: it is read once.
    std::map<event_id, account_id> accounts;
    for (const auto& delivery : claimed)
        accounts.emplace(delivery.event, delivery.account);
    std::vector<event_id> ids;
    std::vector<account_id> owners;
    for (const auto& [event, account] : accounts) {
        ids.push_back(event);
        owners.push_back(account);
    }
    const auto [lowest, highest] = bounds_of(ids);
    const auto rows = postgres::exec_prepared(tx, find_bodies.name, to_array(owners), to_array(ids),
                                              lowest, highest);
    std::unordered_map<event_id, pqxx::row> events;
    for (const auto& row : rows)
        events.emplace(column<event_id>(row, "event_id"), row);
    for (auto& delivery : claimed) {
        const auto event = events.find(delivery.event);
        if (event == events.end() || accounts.at(delivery.event) != delivery.account)
            continue;
        delivery.body = column<std::string>(event->second, "body");
        delivery.traceparent = event->second["traceparent"].as<std::string>("");
    }
}

} // namespace

queue_repository::queue_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement :
         {insert_batch, finish_batch, find_due_page, find_due_queues, next_due, claim_due,
          find_bodies, release_leases, oldest_age, oldest_age_by_queue, renewed_endpoints})
        db_.prepare(statement);
}

awaitable<std::optional<std::vector<delivery_key>>>
queue_repository::insert(const std::vector<new_event>& events,
                         const std::vector<new_delivery>& deliveries, uuid lease,
                         const std::vector<new_routing>& routings, const config_versions& versions)
{
    insert_parameters batch{events, deliveries, group_by_matches(routings), {}, {}, lease};
    for (const auto& [account, version] : versions) {
        batch.accounts.push_back(account);
        batch.versions.push_back(version);
    }
    using inserted = std::optional<std::vector<delivery_key>>;
    return run_autocommit<inserted>(
        db_, [batch = std::move(batch)](pqxx::nontransaction& tx) -> inserted {
            const auto rows = run_insert(tx, batch);
            if (!column<bool>(rows[0], "is_current"))
                return std::nullopt;
            std::vector<delivery_key> leased;
            for (const auto& row : rows)
                if (!row["event_id"].is_null())
                    leased.push_back(
                        {column<event_id>(row, "event_id"), column<webhook_id>(row, "webhook_id")});
            return leased;
        });
}

awaitable<due_page> queue_repository::find_due(std::optional<due_page::position> from,
                                               int page_size)
{
    return run_autocommit<due_page>(db_, [from = std::move(from),
                                          page_size](pqxx::nontransaction& tx) {
        due_page page;
        const auto rows = postgres::exec_prepared(tx, find_due_page.name, from ? from->run_at : 0,
                                                  from ? from->event : nil_uuid,
                                                  from ? from->webhook : nil_uuid, page_size);
        for (const auto& row : rows)
            page.queues.push_back(read_queue(row));
        if (!rows.empty() && column<int>(rows[0], "rows") == page_size)
            page.next = due_page::position{column<std::int64_t>(rows[0], "last_run_at"),
                                           column<std::string>(rows[0], "last_event_id"),
                                           column<std::string>(rows[0], "last_webhook_id")};
        page.until_next_due = read_milliseconds(postgres::exec_prepared1(tx, next_due.name));
        return page;
    });
}

awaitable<std::vector<due_queue>> queue_repository::find_all_due()
{
    return run_autocommit<std::vector<due_queue>>(db_, [](pqxx::nontransaction& tx) {
        std::vector<due_queue> queues;
        for (const auto& row : postgres::exec_prepared(tx, find_due_queues.name))
            queues.push_back(read_queue(row));
        return queues;
    });
}

awaitable<std::vector<claimed_delivery>>
queue_repository::claim(const std::vector<claim_request>& requests, uuid lease)
{
    std::vector<account_id> accounts;
    std::vector<webhook_id> webhooks;
    std::vector<bool> are_retries;
    std::vector<std::int32_t> capacity;
    for (const auto& request : requests) {
        accounts.push_back(request.queue.account);
        webhooks.push_back(request.queue.webhook);
        are_retries.push_back(request.queue.queue == queue_kind::retry);
        capacity.push_back(static_cast<std::int32_t>(request.capacity));
    }
    return run_autocommit<std::vector<claimed_delivery>>(
        db_, [accounts = to_array(accounts), webhooks = to_array(webhooks),
              are_retries = to_array(are_retries), capacity = to_array(capacity),
              lease = lease.text()](pqxx::nontransaction& tx) {
            std::vector<claimed_delivery> claimed;
            for (const auto& row :
                 postgres::exec_prepared(tx, claim_due.name, accounts, webhooks, are_retries,
                                         capacity, lease, lease_time.count())) {
                claimed_delivery read;
                read.event = column<event_id>(row, "event_id");
                read.webhook = column<webhook_id>(row, "webhook_id");
                read.account = column<account_id>(row, "account_id");
                read.attempts = column<int>(row, "attempts");
                read.queue = column<bool>(row, "is_retry") ? queue_kind::retry : queue_kind::first;
                read.began = column<time_point>(row, "began_at");
                claimed.push_back(std::move(read));
            }
            add_bodies(tx, claimed);
            return claimed;
        });
}

awaitable<void> queue_repository::write(const std::vector<delivery_outcome>& outcomes)
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

    std::vector<event_id> events;
    std::vector<webhook_id> webhooks;
    std::vector<account_id> accounts;
    std::vector<uuid> leases;
    std::vector<std::string_view> states;
    std::vector<std::string> errors, bodies;
    std::vector<std::int32_t> attempts, durations, statuses;
    std::vector<std::int64_t> waits, times;
    for (const auto* outcome : sorted) {
        events.push_back(outcome->event);
        webhooks.push_back(outcome->webhook);
        accounts.push_back(outcome->account);
        leases.push_back(outcome->lease);
        states.push_back(to_string(outcome->next));
        attempts.push_back(outcome->attempts);
        waits.push_back(outcome->wait.count());
        times.push_back(outcome->has_attempt ? to_unix_micros(outcome->at) : 0);
        durations.push_back(static_cast<std::int32_t>(outcome->took.count()));
        statuses.push_back(static_cast<std::int32_t>(outcome->status));
        errors.push_back(outcome->error);
        bodies.push_back(outcome->response_body);
    }
    return db_.run(
        [events = to_array(events), webhooks = to_array(webhooks), accounts = to_array(accounts),
         leases = to_array(leases), states = to_array(states), attempts = to_array(attempts),
         waits = to_array(waits), times = to_array(times), durations = to_array(durations),
         statuses = to_array(statuses), errors = to_array(errors),
         bodies = to_array(bodies)](pqxx::connection& connection) {
            pqxx::nontransaction tx(connection);
            postgres::exec_prepared(tx, finish_batch.name, events, webhooks, accounts, leases,
                                    states, attempts, waits, times, durations, statuses, errors,
                                    bodies);
        });
}

awaitable<int> queue_repository::release_expired_leases()
{
    return run_autocommit<int>(db_, [](pqxx::nontransaction& tx) {
        return static_cast<int>(postgres::exec_prepared(tx, release_leases.name).affected_rows());
    });
}

awaitable<std::chrono::milliseconds>
queue_repository::oldest_due_age(std::vector<webhook_id> without)
{
    return run_autocommit<std::chrono::milliseconds>(
        db_, [left_out = to_array(without)](pqxx::nontransaction& tx) {
            auto row = postgres::exec_prepared1(tx, oldest_age.name, left_out, rows_of_oldest);
            if (column<std::optional<bool>>(row, "is_past_page").value_or(false))
                row = postgres::exec_prepared1(tx, oldest_age_by_queue.name, left_out);
            return read_milliseconds(row).value_or(std::chrono::milliseconds{0});
        });
}

awaitable<std::vector<std::pair<webhook_id, time_point>>> queue_repository::renewed_lately()
{
    using renewals = std::vector<std::pair<webhook_id, time_point>>;
    return run_autocommit<renewals>(db_, [](pqxx::nontransaction& tx) {
        renewals renewed;
        for (const auto& row : postgres::exec_prepared(tx, renewed_endpoints.name))
            renewed.emplace_back(column<webhook_id>(row, "webhook_id"),
                                 column<time_point>(row, "renewed_at"));
        return renewed;
    });
}

} // namespace tempinbox::webhooks
