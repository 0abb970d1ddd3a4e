#include "webhook-dispatcher/storage/email_deliveries.hpp"

#include "common/core/text.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

using postgres::column;

// One statement, so that no delivery is missed or found twice on its way from one table to the
// other. Rows of rules come first, then a row for each attempt, and one for a delivery without any.
// Deliveries are found through the webhooks, which come before the event in their keys: unfinished
// ones through those that the account has, finished ones through those that got anything on the
// event's day, deleted ones too. `served` steps from one of these to the next: one index probe
// each. $3, $4, $5: how many deliveries, rules and attempts of each delivery; $6: when the day
// began.
constexpr postgres::statement find_of_email{"deliveries_of_email", R"(
WITH RECURSIVE day AS MATERIALIZED (
    SELECT webhooks.lowest_uuid(start) AS first,
        webhooks.lowest_uuid(start + interval '1 day') AS past
    FROM (SELECT timestamptz 'epoch' + $6 * interval '1 microsecond' AS start) AS began
), served (webhook_id, number) AS (
    (SELECT webhook_id, 1 FROM webhooks.deliveries
     WHERE account_id = $1::uuid AND event_id >= (SELECT first FROM day)
         AND event_id < (SELECT past FROM day) ORDER BY webhook_id LIMIT 1)
    UNION ALL
    SELECT following.webhook_id, served.number + 1 FROM served CROSS JOIN LATERAL (
        SELECT webhook_id FROM webhooks.deliveries
        WHERE account_id = $1::uuid AND webhook_id > served.webhook_id
            AND event_id >= (SELECT first FROM day) AND event_id < (SELECT past FROM day)
        ORDER BY webhook_id LIMIT 1) AS following
    WHERE served.number < 1000
), match AS MATERIALIZED (
    SELECT r.number, r.rule_id, r.matched
    FROM webhooks.routings AS stored CROSS JOIN LATERAL
        unnest(stored.rule_ids, stored.matched) WITH ORDINALITY AS r(rule_id, matched, number)
    WHERE stored.event_id = $2::uuid AND stored.account_id = $1::uuid
    ORDER BY r.matched DESC, r.number LIMIT $4
), delivery AS MATERIALIZED (
    SELECT stored.* FROM (
        SELECT d.webhook_id, 'pending' AS state, d.created_at, d.run_at AS next_at,
            NULL::text AS reason, d.rule_ids
        FROM webhooks.endpoints AS e CROSS JOIN LATERAL (
            SELECT webhook_id, created_at, run_at, rule_ids FROM webhooks.due_deliveries
            WHERE account_id = $1::uuid AND webhook_id = e.webhook_id AND event_id = $2::uuid
            OFFSET 0) AS d
        WHERE e.account_id = $1::uuid
        UNION ALL
        SELECT f.webhook_id, f.state, f.created_at, NULL, f.reason, f.rule_ids
        FROM served CROSS JOIN LATERAL (
            SELECT webhook_id, state, created_at, reason, rule_ids FROM webhooks.deliveries
            WHERE account_id = $1::uuid AND webhook_id = served.webhook_id AND event_id = $2::uuid
            OFFSET 0) AS f) AS stored
    ORDER BY stored.created_at, stored.webhook_id LIMIT $3
)
SELECT m.number AS rule_number, m.rule_id, m.matched,
    (SELECT known.name FROM webhooks.rules AS known
     WHERE known.account_id = $1::uuid AND known.rule_id = m.rule_id) AS name,
    NULL::uuid AS webhook_id, NULL::text AS url, NULL::text AS state, NULL::bigint AS created_at,
    NULL::bigint AS next_at, NULL::text AS reason, NULL::text AS rule_ids,
    NULL::smallint AS number, NULL::bigint AS at, NULL::integer AS took, NULL::smallint AS status,
    NULL::text AS error
FROM match AS m
UNION ALL
SELECT NULL, NULL, NULL, NULL, d.webhook_id, e.url, d.state,
    (extract(epoch FROM d.created_at) * 1000000)::bigint,
    (extract(epoch FROM d.next_at) * 1000000)::bigint, d.reason, array_to_string(d.rule_ids, ','),
    a.number, (extract(epoch FROM a.at) * 1000000)::bigint, a.duration_ms, a.status, a.error
FROM delivery AS d
    LEFT JOIN webhooks.endpoints AS e
        ON e.account_id = $1::uuid AND e.webhook_id = d.webhook_id
    LEFT JOIN LATERAL (
        SELECT number, at, duration_ms, status, error FROM webhooks.attempts
        WHERE event_id = $2::uuid AND webhook_id = d.webhook_id AND account_id = $1::uuid
        ORDER BY at DESC, number DESC LIMIT $5) AS a ON true
ORDER BY rule_number, created_at, webhook_id, at, number)"};

named_rule_match read_named_match(const pqxx::row& row)
{
    named_rule_match read;
    read.match.rule = column<rule_id>(row, "rule_id");
    read.match.matched = column<bool>(row, "matched");
    read.name = column<std::optional<std::string>>(row, "name");
    return read;
}

email_delivery read_email_delivery(const pqxx::row& row, webhook_id webhook)
{
    email_delivery read;
    read.webhook = webhook;
    read.url = column<std::optional<std::string>>(row, "url");
    read.status = status_of(column<std::string>(row, "state"));
    read.created_at = column<time_point>(row, "created_at");
    read.next_attempt_at = column<std::optional<time_point>>(row, "next_at");
    if (read.status == delivery_status::failed)
        read.reason = row["reason"].as<std::string>("");
    for (const auto& rule : split_list(column<std::string>(row, "rule_ids")))
        read.rules.push_back(rule_id::parse(rule).value());
    return read;
}

email_attempt read_email_attempt(const pqxx::row& row)
{
    email_attempt read;
    read.number = column<int>(row, "number");
    read.at = column<time_point>(row, "at");
    read.took = std::chrono::milliseconds(column<std::int64_t>(row, "took"));
    read.status = row["status"].as<int>(0);
    read.error = row["error"].as<std::string>("");
    return read;
}

email_deliveries read_rows(const pqxx::result& rows)
{
    email_deliveries read;
    for (const auto& row : rows) {
        if (!row["rule_id"].is_null()) {
            read.rules.push_back(read_named_match(row));
            continue;
        }
        const auto webhook = column<webhook_id>(row, "webhook_id");
        if (read.deliveries.empty() || read.deliveries.back().webhook != webhook)
            read.deliveries.push_back(read_email_delivery(row, webhook));
        if (!row["number"].is_null())
            read.deliveries.back().attempts.push_back(read_email_attempt(row));
    }
    return read;
}

// The statement reads one more of each than is shown: that one says that there are more.
void leave_out_surplus(email_deliveries& read)
{
    if (read.rules.size() > max_email_rules) {
        const auto last_unmatched =
            std::find_if(read.rules.rbegin(), read.rules.rend(),
                         [](const auto& rule) { return !rule.match.matched; });
        read.rules.erase(last_unmatched == read.rules.rend() ? read.rules.end() - 1
                                                             : last_unmatched.base() - 1);
        read.is_truncated = true;
    }
    if (read.deliveries.size() > max_email_deliveries) {
        read.deliveries.pop_back();
        read.is_truncated = true;
    }
    for (auto& delivery : read.deliveries) {
        if (delivery.attempts.size() > max_email_attempts) {
            delivery.attempts.erase(delivery.attempts.begin()); // the oldest
            read.is_truncated = true;
        }
    }
}

} // namespace

void prepare_email_deliveries(postgres::pool& db)
{
    db.prepare(find_of_email);
}

email_deliveries read_email_deliveries(pqxx::transaction_base& tx, account_id account,
                                       event_id email)
{
    const auto day = std::chrono::floor<std::chrono::days>(email.value().time());
    auto read = read_rows(postgres::exec_prepared(
        tx, find_of_email.name, account.text(), email.text(), max_email_deliveries + 1,
        max_email_rules + 1, max_email_attempts + 1, to_unix_micros(day)));
    leave_out_surplus(read);
    return read;
}

} // namespace tempinbox::webhooks
