#include "webhook-dispatcher/storage/delivery_repository.hpp"

#include "common/postgres/session.hpp"
#include "webhook-dispatcher/storage/delivery_id.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "common/core/text.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/daily_counts.hpp"
#include "common/postgres/read_each.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::webhooks {
namespace {

using postgres::column;

constexpr postgres::statement webhook_exists{"deliveries_webhook_exists", R"(
SELECT 1 FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

// A delivery is in one of the two tables. $1 account, $2 webhook.
const std::string unfinished_sql = R"(
    SELECT event_id, 'pending' AS state, run_at AS next_at, created_at, rule_ids
    FROM webhooks.due_deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid)";
const std::string finished_sql = R"(
    SELECT event_id, state, NULL::timestamptz AS next_at, created_at, rule_ids
    FROM webhooks.deliveries WHERE webhook_id = $2::uuid AND account_id = $1::uuid)";

// $3: the event that the page begins past.
std::string condition_for(list_order order)
{
    return order == list_order::oldest_first ? " AND event_id > $3::uuid"
                                             : " AND event_id < $3::uuid";
}

std::string order_by(list_order order)
{
    return order == list_order::oldest_first ? " ORDER BY event_id" : " ORDER BY event_id DESC";
}

// The first rows past the position.
std::string first_rows(list_order order, const std::string& sql, const std::string& limit)
{
    return "(" + sql + order_by(order) + " LIMIT " + limit + ")";
}

// $4: how many. The kind comes from the event, which lives as long.
std::string page_sql(list_order order, const std::string& rows)
{
    return "WITH page AS MATERIALIZED (SELECT * FROM (" + rows + ") AS delivery" + order_by(order) +
           R"( LIMIT $4)
SELECT p.event_id, p.state, (extract(epoch FROM p.next_at) * 1000000)::bigint AS next_at,
       (extract(epoch FROM p.created_at) * 1000000)::bigint AS created_at,
       array_to_string(p.rule_ids, ',') AS rule_ids,
       (SELECT type FROM webhooks.events e WHERE e.account_id = $1::uuid
            AND e.event_id = p.event_id OFFSET 0) AS type
FROM page p)" +
           order_by(order);
}

std::string all_sql(list_order order)
{
    const auto condition = condition_for(order);
    return page_sql(order, first_rows(order, unfinished_sql + condition, "$4") + " UNION ALL " +
                               first_rows(order, finished_sql + condition, "$4"));
}

std::string pending_sql(list_order order)
{
    return page_sql(order, first_rows(order, unfinished_sql + condition_for(order), "$4"));
}

std::string failed_sql(list_order order)
{
    const auto failed = finished_sql + condition_for(order) + " AND state <> 'succeeded'";
    return page_sql(order, first_rows(order, failed, "$4"));
}

// If few of many deliveries succeeded, the scan stops after max_rows_scanned rows.
std::string succeeded_sql(list_order order)
{
    const auto scanned =
        first_rows(order, finished_sql + condition_for(order), std::to_string(max_rows_scanned));
    return page_sql(order, "SELECT * FROM " + scanned + " AS scanned WHERE state = 'succeeded'");
}

const std::string list_all_sql = all_sql(list_order::newest_first);
const std::string list_pending_sql = pending_sql(list_order::newest_first);
const std::string list_failed_sql = failed_sql(list_order::newest_first);
const std::string list_succeeded_sql = succeeded_sql(list_order::newest_first);
const std::string list_all_oldest_sql = all_sql(list_order::oldest_first);
const std::string list_pending_oldest_sql = pending_sql(list_order::oldest_first);
const std::string list_failed_oldest_sql = failed_sql(list_order::oldest_first);
const std::string list_succeeded_oldest_sql = succeeded_sql(list_order::oldest_first);

// Where that scan stopped, if it did before the last row.
const std::string scan_end_limit = " OFFSET " + std::to_string(max_rows_scanned - 1) + " LIMIT 1";
const std::string scan_end_sql = "SELECT event_id FROM webhooks.deliveries WHERE webhook_id = "
                                 "$2::uuid AND account_id = $1::uuid "
                                 "AND event_id < $3::uuid ORDER BY event_id DESC" +
                                 scan_end_limit;
const std::string scan_end_oldest_sql =
    "SELECT event_id FROM webhooks.deliveries WHERE webhook_id = "
    "$2::uuid AND account_id = $1::uuid "
    "AND event_id > $3::uuid ORDER BY event_id" +
    scan_end_limit;

const postgres::statement list_all{"deliveries_list", list_all_sql.c_str()};
const postgres::statement list_pending{"deliveries_list_pending", list_pending_sql.c_str()};
const postgres::statement list_failed{"deliveries_list_failed", list_failed_sql.c_str()};
const postgres::statement list_succeeded{"deliveries_list_succeeded", list_succeeded_sql.c_str()};
const postgres::statement scan_end{"deliveries_scan_end", scan_end_sql.c_str()};
const postgres::statement list_all_oldest{"deliveries_list_oldest", list_all_oldest_sql.c_str()};
const postgres::statement list_pending_oldest{"deliveries_list_pending_oldest",
                                              list_pending_oldest_sql.c_str()};
const postgres::statement list_failed_oldest{"deliveries_list_failed_oldest",
                                             list_failed_oldest_sql.c_str()};
const postgres::statement list_succeeded_oldest{"deliveries_list_succeeded_oldest",
                                                list_succeeded_oldest_sql.c_str()};
const postgres::statement scan_end_oldest{"deliveries_scan_end_oldest",
                                          scan_end_oldest_sql.c_str()};

// $3: the event, $4: one row.
const std::string find_sql =
    page_sql(list_order::newest_first, unfinished_sql + " AND event_id = $3::uuid UNION ALL " +
                                           finished_sql + " AND event_id = $3::uuid");
const postgres::statement find_one{"deliveries_find", find_sql.c_str()};

constexpr postgres::statement find_attempts{"deliveries_find_attempts", R"(
SELECT e.event_id, a.at, a.took, a.status, a.error, a.response_body
FROM unnest($2::uuid[]) AS e(event_id) CROSS JOIN LATERAL (
    SELECT (extract(epoch FROM at) * 1000000)::bigint AS at, duration_ms AS took, status, error,
        response_body
    FROM webhooks.attempts WHERE event_id = e.event_id AND webhook_id = $1::uuid
        AND account_id = $3::uuid
    ORDER BY at DESC, number DESC LIMIT $4) a
ORDER BY e.event_id, a.at)"};

constexpr postgres::statement count_finished{"deliveries_count_by_day", R"(
    SELECT date.day - date '1970-01-01' AS day, counted.deliveries AS count
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date - n AS day
        FROM generate_series(0, $2::int - 1) AS n) AS date,
    LATERAL (SELECT count(*) AS deliveries FROM webhooks.endpoints AS e
        JOIN webhooks.deliveries AS d
            ON d.account_id = e.account_id AND d.webhook_id = e.webhook_id
             WHERE e.account_id = $1::uuid
                 AND d.event_id >= webhooks.lowest_uuid(date.day::timestamp AT TIME ZONE 'UTC')
                 AND d.event_id < webhooks.lowest_uuid(
                     (date.day + 1)::timestamp AT TIME ZONE 'UTC')) AS counted
    WHERE counted.deliveries > 0 ORDER BY date.day)"};

// Looks up each event by its key, whatever the planner thinks of joins.
constexpr postgres::statement find_matches{"routings_find", R"(
SELECT email.ordinal, match.rule_id, match.matched
FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS email(account_id, event_id, ordinal),
     LATERAL (SELECT r.rule_ids, r.matched FROM webhooks.routings AS r
              WHERE r.event_id = email.event_id AND r.account_id = email.account_id
              OFFSET 0) AS stored,
     unnest(stored.rule_ids, stored.matched) WITH ORDINALITY AS match(rule_id, matched, number)
ORDER BY email.ordinal, match.number)"};

logged_delivery read_delivery(const pqxx::row& row, webhook_id webhook)
{
    logged_delivery read;
    read.event = column<event_id>(row, "event_id");
    read.webhook = webhook;
    read.status = status_of(column<std::string>(row, "state"));
    read.next_attempt_at = column<std::optional<time_point>>(row, "next_at");
    read.created_at = column<time_point>(row, "created_at");
    for (const auto& rule : split_list(column<std::string>(row, "rule_ids")))
        read.rules.push_back(rule_id::parse(rule).value());
    read.kind = parse_event_kind(column<std::string>(row, "type")).value();
    return read;
}

// The event's partition may be dropped before the delivery's: then the delivery counts as gone,
// too.
std::vector<logged_delivery> read_deliveries(const pqxx::result& rows,
                                             pqxx::result::size_type count, webhook_id webhook)
{
    std::vector<logged_delivery> read;
    for (pqxx::result::size_type i = 0; i < count; ++i)
        if (!rows[i]["type"].is_null())
            read.push_back(read_delivery(rows[i], webhook));
    return read;
}

void add_attempts(pqxx::work& tx, account_id account, webhook_id webhook,
                  std::vector<logged_delivery>& deliveries)
{
    std::vector<event_id> events;
    std::map<event_id, logged_delivery*> by_event;
    for (auto& delivery : deliveries) {
        events.push_back(delivery.event);
        by_event.emplace(delivery.event, &delivery);
    }
    if (events.empty())
        return;
    const auto rows =
        postgres::exec_prepared(tx, find_attempts.name, webhook.text(), postgres::to_array(events),
                                account.text(), max_attempts_shown);
    for (const auto& row : rows) {
        logged_attempt attempt;
        attempt.at = column<time_point>(row, "at");
        attempt.took = std::chrono::milliseconds(column<std::int64_t>(row, "took"));
        attempt.status = row["status"].as<int>(0);
        attempt.error = row["error"].as<std::string>("");
        attempt.response_body = row["response_body"].as<std::string>("");
        by_event.at(column<event_id>(row, "event_id"))->attempts.push_back(std::move(attempt));
    }
}

// A delivery and its attempts are read by two statements, and an outcome changes both: the reads
// need one snapshot.
void see_one_state(pqxx::work& tx)
{
    tx.exec0("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
}

const postgres::statement& statement_for(list_order order, std::optional<delivery_status> status)
{
    const bool is_oldest_first = order == list_order::oldest_first;
    if (status == delivery_status::pending)
        return is_oldest_first ? list_pending_oldest : list_pending;
    if (status == delivery_status::succeeded)
        return is_oldest_first ? list_succeeded_oldest : list_succeeded;
    if (status == delivery_status::failed)
        return is_oldest_first ? list_failed_oldest : list_failed;
    return is_oldest_first ? list_all_oldest : list_all;
}

// In one statement.
std::vector<result<delivery_repository::routing>>
read_routings(pqxx::nontransaction& tx, const std::vector<std::pair<account_id, event_id>>& emails)
{
    using routing = delivery_repository::routing;
    std::vector<result<routing>> routings(emails.size(), routing());
    const auto [accounts, events] = postgres::to_arrays(emails);
    for (const auto& row : postgres::exec_prepared(tx, find_matches.name, accounts, events)) {
        auto& matches = *routings.at(column<std::size_t>(row, "ordinal") - 1);
        if (!matches)
            matches.emplace();
        matches->push_back({column<rule_id>(row, "rule_id"), column<bool>(row, "matched")});
    }
    return routings;
}

} // namespace

delivery_repository::delivery_repository(postgres::pool& db) : db_(db)
{
    prepare_email_deliveries(db_);
    for (const auto& statement :
         {webhook_exists, list_all, list_pending, list_failed, list_succeeded, scan_end,
          list_all_oldest, list_pending_oldest, list_failed_oldest, list_succeeded_oldest,
          scan_end_oldest, find_one, find_attempts, count_finished, find_matches})
        db_.prepare(statement);
}

awaitable<result<log_page>> delivery_repository::list(account_id account, webhook_id webhook,
                                                      std::optional<delivery_status> status,
                                                      list_order order,
                                                      std::optional<event_id> position, int limit)
{
    return db_.transact([account, webhook, status, order, position,
                         limit](pqxx::work& tx) -> result<log_page> {
        see_one_state(tx);
        if (postgres::exec_prepared(tx, webhook_exists.name, account.text(), webhook.text())
                .empty())
            return no_such_webhook(webhook);
        const bool is_oldest_first = order == list_order::oldest_first;
        const auto start = is_oldest_first ? event_id() : event_id::max();
        const auto past = position.value_or(start).text();
        // One more than requested shows whether there is another page.
        const auto rows = postgres::exec_prepared(tx, statement_for(order, status).name,
                                                  account.text(), webhook.text(), past, limit + 1);
        const auto last = std::min(rows.size(), static_cast<pqxx::result::size_type>(limit));
        log_page page;
        page.deliveries = read_deliveries(rows, last, webhook);
        if (rows.size() > last) {
            page.next = column<event_id>(rows[last - 1], "event_id");
        } else if (status == delivery_status::succeeded) {
            const auto& statement = is_oldest_first ? scan_end_oldest : scan_end;
            const auto end =
                postgres::exec_prepared(tx, statement.name, account.text(), webhook.text(), past);
            if (!end.empty())
                page.next = column<event_id>(end[0], "event_id");
        }
        add_attempts(tx, account, webhook, page.deliveries);
        return page;
    });
}

awaitable<result<logged_delivery>> delivery_repository::find(account_id account, webhook_id webhook,
                                                             event_id event)
{
    return db_.transact([account, webhook, event](pqxx::work& tx) -> result<logged_delivery> {
        see_one_state(tx);
        if (postgres::exec_prepared(tx, webhook_exists.name, account.text(), webhook.text())
                .empty())
            return no_such_webhook(webhook);
        const auto rows = postgres::exec_prepared(tx, find_one.name, account.text(), webhook.text(),
                                                  event.text(), 1);
        auto deliveries = read_deliveries(rows, rows.size(), webhook);
        if (deliveries.empty())
            return no_such_delivery(event, webhook);
        add_attempts(tx, account, webhook, deliveries);
        return std::move(deliveries.front());
    });
}

awaitable<std::vector<daily_count>> delivery_repository::count_by_day(account_id account, int days)
{
    return postgres::list_daily_counts(db_, count_finished, account, days);
}

awaitable<std::vector<result<delivery_repository::routing>>>
delivery_repository::find_routings(std::vector<std::pair<account_id, event_id>> emails)
{
    return postgres::read_each<routing>(
        db_, std::move(emails), read_routings, "The routing cannot be read",
        [](const std::pair<account_id, event_id>& email) { return email.second.text(); });
}

awaitable<email_deliveries> delivery_repository::find_email_deliveries(account_id account,
                                                                       event_id email)
{
    return postgres::run_autocommit<email_deliveries>(
        db_, [account, email](pqxx::nontransaction& tx) {
            return read_email_deliveries(tx, account, email);
        });
}

} // namespace tempinbox::webhooks
