#include "webhook-dispatcher/storage/history_repository.hpp"

#include "webhook-dispatcher/storage/delivery_id.hpp"

#include "common/core/text.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/daily_counts.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::webhooks {
namespace {

constexpr postgres::statement webhook_exists{"log_webhook_exists", R"(
SELECT 1 FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

// A delivery is in one of the two tables. $1 account, $2 webhook, $3 only older events.
const std::string unfinished_sql = R"(
    SELECT event_id, 'pending' AS state, run_at AS next_at, created_at, rule_ids
    FROM webhooks.due_deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid
        AND event_id < $3::uuid)";
const std::string finished_sql = R"(
    SELECT event_id, state, NULL::timestamptz AS next_at, created_at, rule_ids
    FROM webhooks.deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid
        AND event_id < $3::uuid)";

std::string newest(const std::string& sql, const std::string& limit)
{
    return "(" + sql + " ORDER BY event_id DESC LIMIT " + limit + ")";
}

// $4: how many. The kind comes from the event, which lives as long.
std::string page_sql(const std::string& rows)
{
    return "WITH page AS MATERIALIZED (SELECT * FROM (" + rows +
           R"() AS found ORDER BY event_id DESC LIMIT $4)
SELECT p.event_id, p.state, (extract(epoch FROM p.next_at) * 1000000)::bigint,
       (extract(epoch FROM p.created_at) * 1000000)::bigint,
       array_to_string(p.rule_ids, ','),
       (SELECT type FROM webhooks.events e WHERE e.event_id = p.event_id OFFSET 0)
FROM page p ORDER BY p.event_id DESC)";
}

const std::string list_all_sql =
    page_sql(newest(unfinished_sql, "$4") + " UNION ALL " + newest(finished_sql, "$4"));
const std::string list_pending_sql = page_sql(newest(unfinished_sql, "$4"));
const std::string list_failed_sql =
    page_sql(newest(finished_sql + " AND state <> 'succeeded'", "$4"));
// If few of many deliveries succeeded, the scan stops after max_rows_scanned rows.
const std::string list_succeeded_sql =
    page_sql("SELECT * FROM " + newest(finished_sql, std::to_string(max_rows_scanned)) +
             " AS looked WHERE state = 'succeeded'");

// Where that scan stopped, if it did before the last row.
const std::string scan_end_sql = "SELECT event_id FROM webhooks.deliveries WHERE webhook_id = "
                                 "$2::uuid AND account_id = $1::uuid "
                                 "AND event_id < $3::uuid ORDER BY event_id DESC OFFSET " +
                                 std::to_string(max_rows_scanned - 1) + " LIMIT 1";

const std::string find_sql = page_sql(unfinished_sql + " AND event_id = $5::uuid UNION ALL " +
                                      finished_sql + " AND event_id = $5::uuid");

constexpr postgres::statement find_attempts{"log_attempts", R"(
SELECT w.event_id, a.at, a.took, a.status, a.error, a.response_body
FROM unnest($2::uuid[]) AS w(event_id) CROSS JOIN LATERAL (
    SELECT (extract(epoch FROM at) * 1000000)::bigint AS at, duration_ms AS took, status, error,
        response_body
    FROM webhooks.attempts WHERE event_id = w.event_id AND webhook_id = $1::uuid
        AND account_id = $3::uuid
    ORDER BY at DESC, number DESC LIMIT $4) a
ORDER BY w.event_id, a.at)"};

constexpr postgres::statement count_by_day{"deliveries_count", R"(
    SELECT date.day - date '1970-01-01', counted.deliveries
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date - n AS day
        FROM generate_series(0, $2::int - 1) AS n) AS date,
    LATERAL (SELECT count(*) AS deliveries FROM webhooks.endpoints AS e
        JOIN webhooks.deliveries AS d ON d.webhook_id = e.webhook_id
             WHERE e.account_id = $1::uuid
                 AND d.event_id >= webhooks.lowest_uuid(date.day::timestamp AT TIME ZONE 'UTC')
                 AND d.event_id < webhooks.lowest_uuid(
                     (date.day + 1)::timestamp AT TIME ZONE 'UTC')) AS counted
    WHERE counted.deliveries > 0 ORDER BY 1)"};

constexpr postgres::statement find_routing_sql{"routing_find", R"(
SELECT said.rule_id, said.matched
FROM (SELECT rule_ids, matched FROM webhooks.routings WHERE event_id = $2::uuid
    AND account_id = $1::uuid) AS stored,
     unnest(stored.rule_ids, stored.matched) WITH ORDINALITY AS said(rule_id, matched, number)
ORDER BY said.number)"};

constexpr const char* past_every_event = "ffffffff-ffff-ffff-ffff-ffffffffffff";

delivery_status status_of(std::string_view state)
{
    if (state == "pending")
        return delivery_status::pending;
    return state == "succeeded" ? delivery_status::succeeded : delivery_status::failed;
}

logged_delivery read_delivery(const pqxx::row& row, webhook_id webhook)
{
    logged_delivery read;
    read.event = event_id::parse(row[0].as<std::string>()).value();
    read.webhook = webhook;
    read.status = status_of(row[1].as<std::string>());
    if (!row[2].is_null())
        read.next_attempt_at = from_unix_micros(row[2].as<std::int64_t>());
    read.created_at = from_unix_micros(row[3].as<std::int64_t>());
    for (const auto& rule : split_list(row[4].as<std::string>()))
        read.rules.push_back(rule_id::parse(rule).value());
    read.kind = parse_event_kind(row[5].as<std::string>()).value();
    return read;
}

// The event's partition may be dropped before the delivery's: then the delivery counts as gone,
// too.
std::vector<logged_delivery> read_deliveries(const pqxx::result& rows,
                                             pqxx::result::size_type count, webhook_id webhook)
{
    std::vector<logged_delivery> read;
    for (pqxx::result::size_type i = 0; i < count; ++i)
        if (!rows[i][5].is_null())
            read.push_back(read_delivery(rows[i], webhook));
    return read;
}

void add_attempts(pqxx::work& tx, account_id account, webhook_id webhook,
                  std::vector<logged_delivery>& deliveries)
{
    std::vector<event_id> events;
    std::map<std::string, logged_delivery*> by_event;
    for (auto& delivery : deliveries) {
        events.push_back(delivery.event);
        by_event.emplace(delivery.event.text(), &delivery);
    }
    if (events.empty())
        return;
    const auto rows =
        tx.exec_prepared(find_attempts.name, webhook.text(), postgres::to_array(events),
                         account.text(), max_attempts_shown);
    for (const auto& row : rows) {
        logged_attempt attempt;
        attempt.at = from_unix_micros(row[1].as<std::int64_t>());
        attempt.took = std::chrono::milliseconds(row[2].as<std::int64_t>());
        attempt.status = row[3].is_null() ? 0 : row[3].as<int>();
        attempt.error = row[4].is_null() ? "" : row[4].as<std::string>();
        attempt.response_body = row[5].is_null() ? "" : row[5].as<std::string>();
        by_event.at(row[0].as<std::string>())->attempts.push_back(std::move(attempt));
    }
}

// A delivery and its attempts are read by two statements, and an outcome changes both: the reads
// need one snapshot.
void see_one_state(pqxx::work& tx)
{
    tx.exec0("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
}

const char* statement_for(std::optional<delivery_status> status)
{
    if (!status)
        return "log_all";
    switch (*status) {
    case delivery_status::pending:
        return "log_pending";
    case delivery_status::succeeded:
        return "log_succeeded";
    case delivery_status::failed:
        return "log_failed";
    }
    return "log_all";
}

} // namespace

history_repository::history_repository(postgres::pool& db) : db_(db)
{
    db_.prepare({"log_all", list_all_sql.c_str()});
    db_.prepare({"log_pending", list_pending_sql.c_str()});
    db_.prepare({"log_failed", list_failed_sql.c_str()});
    db_.prepare({"log_succeeded", list_succeeded_sql.c_str()});
    db_.prepare({"log_scan_end", scan_end_sql.c_str()});
    db_.prepare({"log_find", find_sql.c_str()});
    db_.prepare(find_attempts);
    db_.prepare(webhook_exists);
    db_.prepare(count_by_day);
    db_.prepare(find_routing_sql);
}

awaitable<result<log_page>>
history_repository::list_deliveries(account_id account, webhook_id webhook,
                                    std::optional<delivery_status> status,
                                    std::optional<event_id> before, int limit)
{
    return db_.transact([account, webhook, status, before,
                         limit](pqxx::work& tx) -> result<log_page> {
        see_one_state(tx);
        if (tx.exec_prepared(webhook_exists.name, account.text(), webhook.text()).empty())
            return failure{errc::not_found, "Webhook " + webhook.text() + " does not exist"};
        const auto edge = before ? before->text() : past_every_event;
        // One more than requested shows whether there is another page.
        const auto rows = tx.exec_prepared(statement_for(status), account.text(), webhook.text(),
                                           edge, limit + 1);
        const auto last = std::min(rows.size(), static_cast<pqxx::result::size_type>(limit));
        log_page page;
        page.deliveries = read_deliveries(rows, last, webhook);
        if (rows.size() > last) {
            page.next = event_id::parse(rows[last - 1][0].as<std::string>()).value();
        } else if (status == delivery_status::succeeded) {
            const auto end = tx.exec_prepared("log_scan_end", account.text(), webhook.text(), edge);
            if (!end.empty())
                page.next = event_id::parse(end[0][0].as<std::string>()).value();
        }
        add_attempts(tx, account, webhook, page.deliveries);
        return page;
    });
}

awaitable<result<logged_delivery>>
history_repository::find_delivery(account_id account, webhook_id webhook, event_id event)
{
    return db_.transact([account, webhook, event](pqxx::work& tx) -> result<logged_delivery> {
        see_one_state(tx);
        const auto rows = tx.exec_prepared("log_find", account.text(), webhook.text(),
                                           past_every_event, 1, event.text());
        auto found = read_deliveries(rows, rows.size(), webhook);
        if (found.empty())
            return failure{errc::not_found, "Delivery " + make_delivery_id(event, webhook).text() +
                                                " does not exist"};
        add_attempts(tx, account, webhook, found);
        return std::move(found.front());
    });
}

awaitable<std::vector<daily_count>> history_repository::count_deliveries(account_id account,
                                                                         int days)
{
    return postgres::list_daily_counts(db_, count_by_day, account, days);
}

awaitable<std::optional<std::vector<rule_match>>>
history_repository::find_routing(account_id account, event_id email)
{
    return db_.transact([account, email](pqxx::work& tx) -> std::optional<std::vector<rule_match>> {
        std::vector<rule_match> rules;
        for (const auto& row :
             tx.exec_prepared(find_routing_sql.name, account.text(), email.text()))
            rules.push_back({rule_id::parse(row[0].as<std::string>()).value(), row[1].as<bool>()});
        if (rules.empty())
            return std::nullopt;
        return rules;
    });
}

} // namespace tempinbox::webhooks
