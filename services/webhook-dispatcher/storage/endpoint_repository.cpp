#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "common/postgres/session.hpp"
#include "webhook-dispatcher/storage/config_change.hpp"

#include "common/core/text.hpp"
#include "common/json/value.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

#include <algorithm>

namespace tempinbox::webhooks {

using postgres::column;

const char* const endpoint_columns =
    R"(account_id, webhook_id, url, array_to_string(events, ',') AS events, description,
    is_enabled, disabled_reason, sealed_secret, rotation_id,
    (extract(epoch FROM renewed_at) * 1000000)::bigint AS renewed_at,
    (SELECT coalesce(json_agg(json_build_object(
                'sealed', p.sealed_secret,
                'until', (extract(epoch FROM p.valid_until) * 1000000)::bigint)
                              ORDER BY p.valid_until DESC), '[]')
     FROM webhooks.previous_secrets p
     WHERE p.account_id = endpoints.account_id AND p.webhook_id = endpoints.webhook_id)
        AS previous_secrets,
    (extract(epoch FROM created_at) * 1000000)::bigint AS created_at)";

namespace {

const std::string columns = endpoint_columns;

const std::string find_sql =
    "SELECT " + columns +
    " FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid";

const std::string insert_sql = R"(
INSERT INTO webhooks.endpoints (account_id, webhook_id, url, events, description, sealed_secret)
VALUES ($1::uuid, $2::uuid, $3, $4::text[], $5, $6) RETURNING )" +
                               columns;

const std::string update_sql = R"(
UPDATE webhooks.endpoints
SET url = $3, events = $4::text[], description = $5, is_enabled = $6,
    disabled_reason = nullif($7, ''),
    notice_id = CASE WHEN $6 THEN NULL ELSE notice_id END,
    notice_at = CASE WHEN $6 THEN NULL ELSE notice_at END,
    renewed_at = CASE WHEN $8 THEN clock_timestamp() ELSE renewed_at END
WHERE account_id = $1::uuid AND webhook_id = $2::uuid RETURNING )" +
                               columns;

// An account has few endpoints: they are read by the primary key and sorted.
const std::string of_account_sql =
    "SELECT " + columns + " FROM webhooks.endpoints WHERE account_id = $1::uuid";
const std::string list_newest_first =
    " ORDER BY endpoints.created_at DESC, webhook_id DESC LIMIT $2";
const std::string list_oldest_first = " ORDER BY endpoints.created_at, webhook_id LIMIT $2";
const std::string list_position = "(timestamptz 'epoch' + $3 * interval '1 microsecond', $4::uuid)";

const std::string list_first_sql = of_account_sql + list_newest_first;
const std::string list_first_oldest_sql = of_account_sql + list_oldest_first;
const std::string list_after_sql =
    of_account_sql + " AND (created_at, webhook_id) < " + list_position + list_newest_first;
const std::string list_after_oldest_sql =
    of_account_sql + " AND (created_at, webhook_id) > " + list_position + list_oldest_first;

constexpr postgres::statement count_webhooks{"webhooks_count", R"(
SELECT count(*) AS count FROM webhooks.endpoints WHERE account_id = $1::uuid)"};

constexpr postgres::statement rules_of_webhook{"webhooks_rules_of_webhook", R"(
SELECT name FROM webhooks.rules WHERE account_id = $1::uuid AND webhook_id = $2::uuid
    ORDER BY created_at, rule_id LIMIT 20)"};

constexpr postgres::statement delete_webhook{"webhooks_delete", R"(
DELETE FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

// Rows in flight are left to their sender, which drops them; the rest is dropped as it comes due.
constexpr postgres::statement delete_due{"webhooks_delete_due", R"(
DELETE FROM webhooks.due_deliveries WHERE (account_id, webhook_id, event_id) IN (
    SELECT account_id, webhook_id, event_id FROM webhooks.due_deliveries
    WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND lease_id IS NULL LIMIT 5000
        FOR UPDATE SKIP LOCKED))"};

constexpr postgres::statement disable_webhook{"webhooks_disable", R"(
UPDATE webhooks.endpoints
SET is_enabled = false, disabled_reason = $3, notice_id = gen_random_uuid(), notice_at = now()
WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND is_enabled
  AND ($4::bigint = 0 OR (extract(epoch FROM renewed_at) * 1000000)::bigint = $4))"};

// First attempts that waited for the receiver to recover; retries keep their schedule.
constexpr postgres::statement make_due_now{"webhooks_make_due_now", R"(
UPDATE webhooks.due_deliveries SET run_at = now() WHERE (account_id, webhook_id, event_id) IN (
    SELECT account_id, webhook_id, event_id FROM webhooks.due_deliveries
    WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND lease_id IS NULL AND NOT is_retry
        AND run_at > now()
    LIMIT 5000 FOR UPDATE SKIP LOCKED))"};

constexpr postgres::statement delete_failures{"webhooks_delete_failures", R"(
DELETE FROM webhooks.failing_endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

// With the present one that is four signatures: a header that receivers still read.
constexpr int max_previous_secrets = 3;

const std::string rotate_sql = R"(
UPDATE webhooks.endpoints SET sealed_secret = $3, rotation_id = $4::uuid
WHERE account_id = $1::uuid AND webhook_id = $2::uuid RETURNING )" +
                               columns;

constexpr postgres::statement purge_ended{"secrets_purge_ended", R"(
DELETE FROM webhooks.previous_secrets WHERE account_id = $1::uuid AND webhook_id = $2::uuid
    AND valid_until <= clock_timestamp())"};

constexpr postgres::statement count_previous{"secrets_count_previous", R"(
SELECT count(*) AS count, (extract(epoch FROM min(valid_until)) * 1000000)::bigint AS first_end
FROM webhooks.previous_secrets WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

// Copies the present secret in SQL: it may just have been sealed anew.
constexpr postgres::statement keep_present{"secrets_keep_present", R"(
WITH present AS (
    SELECT account_id, webhook_id, sealed_secret FROM webhooks.endpoints
    WHERE account_id = $1::uuid AND webhook_id = $2::uuid FOR UPDATE)
INSERT INTO webhooks.previous_secrets (account_id, webhook_id, rotation_id, sealed_secret,
    valid_until)
SELECT account_id, webhook_id, $3::uuid, sealed_secret, clock_timestamp() + interval '24 hours'
    FROM present)"};

constexpr postgres::statement count_by_key{"secrets_count_by_key", R"(
SELECT split_part(sealed_secret, ':', 1) AS key_id, count(*) AS count
FROM (SELECT sealed_secret FROM webhooks.endpoints
      UNION ALL SELECT sealed_secret FROM webhooks.previous_secrets) s
GROUP BY 1 ORDER BY 1)"};

constexpr postgres::statement find_otherwise{"secrets_find_otherwise", R"(
(SELECT account_id, webhook_id, '00000000-0000-0000-0000-000000000000'::uuid AS replaced_by,
    sealed_secret FROM webhooks.endpoints
 WHERE (account_id, webhook_id, '00000000-0000-0000-0000-000000000000'::uuid)
       > ($2::uuid, $3::uuid, $4::uuid)
   AND (account_id, webhook_id) >= ($2::uuid, $3::uuid) AND split_part(sealed_secret, ':', 1) <> $1
 ORDER BY account_id, webhook_id LIMIT $5)
UNION ALL
(SELECT account_id, webhook_id, rotation_id, sealed_secret FROM webhooks.previous_secrets
 WHERE (account_id, webhook_id, rotation_id) > ($2::uuid, $3::uuid, $4::uuid)
     AND split_part(sealed_secret, ':', 1) <> $1
 ORDER BY account_id, webhook_id, rotation_id LIMIT $5)
ORDER BY account_id, webhook_id, replaced_by LIMIT $5)"};

constexpr postgres::statement reseal_batch{"secrets_reseal", R"(
WITH resealed AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[])
        AS r(account_id, webhook_id, replaced_by, before, sealed)
), present AS (
    UPDATE webhooks.endpoints e SET sealed_secret = r.sealed FROM resealed r
    WHERE e.account_id = r.account_id AND e.webhook_id = r.webhook_id
      AND e.sealed_secret = r.before RETURNING 1
), previous AS (
    UPDATE webhooks.previous_secrets p SET sealed_secret = r.sealed FROM resealed r
    WHERE p.account_id = r.account_id AND p.webhook_id = r.webhook_id
      AND p.rotation_id = r.replaced_by
      AND p.sealed_secret = r.before RETURNING 1
)
SELECT (SELECT count(*) FROM present) + (SELECT count(*) FROM previous) AS resealed)"};

constexpr postgres::statement claim_due_notices{"notices_claim", R"(
WITH pending AS (
    SELECT account_id, webhook_id FROM webhooks.endpoints
    WHERE notice_at <= now() AND notice_at > now() - interval '1 day'
    ORDER BY notice_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE webhooks.endpoints e SET notice_at = now() + interval '5 minutes'
FROM pending p WHERE e.account_id = p.account_id AND e.webhook_id = p.webhook_id
RETURNING e.notice_id, e.account_id, e.webhook_id, e.url, coalesce(e.disabled_reason, '')
    AS reason)"};

constexpr postgres::statement settle_claimed_notice{"notices_settle", R"(
UPDATE webhooks.endpoints SET notice_id = NULL, notice_at = NULL
WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND notice_id = $3::uuid)"};

constexpr postgres::statement add_counts{"failures_add", R"(
INSERT INTO webhooks.failing_endpoints AS known (webhook_id, account_id, failures, first_failure_at,
    last_failure_at)
SELECT webhook_id, account_id, failures, timestamptz 'epoch' + first * interval '1 microsecond',
       timestamptz 'epoch' + last * interval '1 microsecond'
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS f(webhook_id, account_id, failures, first, last)
ORDER BY account_id, webhook_id
ON CONFLICT (account_id, webhook_id) DO UPDATE SET failures = known.failures + EXCLUDED.failures,
    first_failure_at = least(known.first_failure_at, EXCLUDED.first_failure_at),
    last_failure_at = greatest(known.last_failure_at, EXCLUDED.last_failure_at))"};

constexpr postgres::statement find_suspects{"failures_find_suspects", R"(
SELECT webhook_id, account_id FROM webhooks.failing_endpoints
WHERE failures >= 20 AND last_failure_at - first_failure_at >= interval '5 days'
ORDER BY webhook_id LIMIT 100)"};

// A delivery lives seven days, so older events need not be read. A working webhook is found by its
// newest.
constexpr postgres::statement restart_count{"failures_restart_count", R"(
UPDATE webhooks.failing_endpoints f SET failures = 0, first_failure_at = s.at FROM (
    SELECT finished_at AS at FROM webhooks.deliveries
    WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND state = 'succeeded'
      AND event_id > (SELECT webhooks.lowest_uuid(first_failure_at - interval '7 days')
                      FROM webhooks.failing_endpoints
                      WHERE account_id = $1::uuid AND webhook_id = $2::uuid)
      AND finished_at > (SELECT first_failure_at FROM webhooks.failing_endpoints
          WHERE account_id = $1::uuid AND webhook_id = $2::uuid)
    ORDER BY event_id DESC LIMIT 1) s
WHERE f.account_id = $1::uuid AND f.webhook_id = $2::uuid)"};

// Nothing was sent to it for longer than any schedule: it was deleted, or its failures are history.
constexpr postgres::statement purge_old_failures{"failures_purge_old", R"(
DELETE FROM webhooks.failing_endpoints WHERE last_failure_at < now() - interval '14 days')"};

std::vector<previous_secret> read_previous_secrets(const std::string& text)
{
    std::vector<previous_secret> secrets;
    const auto document = json::value::parse(text).value();
    for (const auto& entry : document.items())
        secrets.push_back({entry["sealed"].text(), from_unix_micros(entry["until"].integer())});
    return secrets;
}

// Whether earlier failures say nothing about the endpoint after this change.
bool is_renewal(const endpoint& target, const endpoint_change& change)
{
    const bool is_switched_on = change.is_enabled.value_or(false) && !target.is_enabled;
    return is_switched_on || (change.url && *change.url != target.url);
}

void apply(endpoint& target, const endpoint_change& change)
{
    if (change.url)
        target.url = *change.url;
    if (change.events)
        target.events = *change.events;
    if (change.description)
        target.description = *change.description;
    if (change.is_enabled)
        target.is_enabled = *change.is_enabled;
    if (target.is_enabled)
        target.disabled_reason.reset();
}

failure number_is_used_up(const plans::account_state& account, int allowed)
{
    const auto plan = account.plan_at(system_clock_source{}.now());
    if (allowed <= 0)
        return failure{errc::permission_denied, "Webhooks are not part of the plan " + plan,
                       error_reason::plan_required};
    return failure{errc::permission_denied,
                   "The plan " + plan + " has " + std::to_string(allowed) +
                       (allowed == 1 ? " webhook" : " webhooks") +
                       ", all in use; DELETE /v1/webhooks/{webhookId} frees one",
                   error_reason::webhook_limit};
}

} // namespace

failure no_such_webhook(webhook_id id)
{
    return failure{errc::not_found, "Webhook " + id.text() + " does not exist"};
}

endpoint read_endpoint(const pqxx::row& row)
{
    endpoint read;
    read.account = column<account_id>(row, "account_id");
    read.id = column<webhook_id>(row, "webhook_id");
    read.url = column<std::string>(row, "url");
    read.events = read_event_set(split_list(column<std::string>(row, "events"))).value();
    read.description = column<std::string>(row, "description");
    read.is_enabled = column<bool>(row, "is_enabled");
    read.disabled_reason = column<std::optional<std::string>>(row, "disabled_reason");
    read.sealed_secret = column<std::string>(row, "sealed_secret");
    read.rotation = column<std::optional<uuid>>(row, "rotation_id");
    read.renewed_at = column<time_point>(row, "renewed_at");
    read.previous_secrets = read_previous_secrets(column<std::string>(row, "previous_secrets"));
    read.created_at = column<time_point>(row, "created_at");
    return read;
}

namespace {

failure too_many_secrets(webhook_id id, int previous, time_point first_end)
{
    return failure{errc::conflict,
                   "Webhook " + id.text() + " signs with " + std::to_string(previous + 1) +
                       " secrets already; it can be rotated again at " + to_iso8601(first_end) +
                       ", when the oldest of them ends",
                   error_reason::secret_limit};
}

result<endpoint> rotate_in(pqxx::work& tx, account_id account, webhook_id id, uuid rotation,
                           const std::string& sealed)
{
    if (!begin_config_change_if_any(tx, account))
        return no_such_webhook(id);
    const auto rows = postgres::exec_prepared(tx, "webhooks_find", account.text(), id.text());
    if (rows.empty())
        return no_such_webhook(id);
    auto present = read_endpoint(rows[0]);
    if (present.rotation == rotation)
        return present;
    postgres::exec_prepared0(tx, purge_ended.name, account.text(), id.text());
    const auto previous =
        postgres::exec_prepared1(tx, count_previous.name, account.text(), id.text());
    if (const int number = column<int>(previous, "count"); number >= max_previous_secrets)
        return too_many_secrets(id, number, column<time_point>(previous, "first_end"));
    postgres::exec_prepared0(tx, keep_present.name, account.text(), id.text(), rotation.text());
    return read_endpoint(postgres::exec_prepared1(tx, "secrets_rotate", account.text(), id.text(),
                                                  sealed, rotation.text()));
}

sealed_secret read_sealed(const pqxx::row& row)
{
    sealed_secret read;
    read.position.account = column<account_id>(row, "account_id");
    read.position.webhook = column<webhook_id>(row, "webhook_id");
    read.position.replaced_by = column<uuid>(row, "replaced_by");
    read.sealed = column<std::string>(row, "sealed_secret");
    return read;
}

} // namespace

endpoint_repository::endpoint_repository(postgres::pool& db) : db_(db)
{
    prepare_config_changes(db_);
    db_.prepare({"webhooks_find", find_sql.c_str()});
    db_.prepare({"webhooks_insert", insert_sql.c_str()});
    db_.prepare({"webhooks_update", update_sql.c_str()});
    db_.prepare({"webhooks_list_first", list_first_sql.c_str()});
    db_.prepare({"webhooks_list_first_oldest", list_first_oldest_sql.c_str()});
    db_.prepare({"webhooks_list_after", list_after_sql.c_str()});
    db_.prepare({"webhooks_list_after_oldest", list_after_oldest_sql.c_str()});
    db_.prepare({"secrets_rotate", rotate_sql.c_str()});
    for (const auto& statement :
         {count_webhooks, rules_of_webhook, delete_webhook, delete_due, disable_webhook,
          make_due_now, delete_failures, purge_ended, count_previous, keep_present, count_by_key,
          find_otherwise, reseal_batch, claim_due_notices, settle_claimed_notice, add_counts,
          find_suspects, restart_count, purge_old_failures})
        db_.prepare(statement);
}

awaitable<result<endpoint>> endpoint_repository::create(plans::account_state account,
                                                        endpoint requested)
{
    return db_.transact([account = std::move(account),
                         requested = std::move(requested)](pqxx::work& tx) -> result<endpoint> {
        begin_config_change(tx, account.account);
        const auto known = update_account_state(tx, account);
        const auto existing = postgres::exec_prepared(tx, "webhooks_find", account.account.text(),
                                                      requested.id.text());
        if (!existing.empty())
            return read_endpoint(existing[0]);

        const int allowed = known.limits_at(system_clock_source{}.now()).webhooks;
        const auto used = column<int>(
            postgres::exec_prepared1(tx, count_webhooks.name, account.account.text()), "count");
        if (used >= allowed)
            return number_is_used_up(known, allowed);
        return read_endpoint(postgres::exec_prepared1(
            tx, "webhooks_insert", account.account.text(), requested.id.text(), requested.url,
            postgres::to_array(requested.events.names()), requested.description,
            requested.sealed_secret));
    });
}

awaitable<result<endpoint>> endpoint_repository::find(account_id account, webhook_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<endpoint> {
        const auto rows = postgres::exec_prepared(tx, "webhooks_find", account.text(), id.text());
        if (rows.empty())
            return no_such_webhook(id);
        return read_endpoint(rows[0]);
    });
}

awaitable<std::vector<endpoint>> endpoint_repository::list(account_id account, list_order order,
                                                           std::optional<endpoint_position> after,
                                                           int limit)
{
    return db_.transact([account, order, after, limit](pqxx::work& tx) {
        const bool is_oldest_first = order == list_order::oldest_first;
        const auto* first = is_oldest_first ? "webhooks_list_first_oldest" : "webhooks_list_first";
        const auto* next = is_oldest_first ? "webhooks_list_after_oldest" : "webhooks_list_after";
        const auto rows =
            after ? postgres::exec_prepared(tx, next, account.text(), limit,
                                            to_unix_micros(after->created_at), after->id.text())
                  : postgres::exec_prepared(tx, first, account.text(), limit);
        std::vector<endpoint> endpoints;
        for (const auto& row : rows)
            endpoints.push_back(read_endpoint(row));
        return endpoints;
    });
}

awaitable<result<endpoint>> endpoint_repository::update(account_id account, webhook_id id,
                                                        endpoint_change change)
{
    return db_.transact([account, id,
                         change = std::move(change)](pqxx::work& tx) -> result<endpoint> {
        if (!begin_config_change_if_any(tx, account))
            return no_such_webhook(id);
        const auto rows = postgres::exec_prepared(tx, "webhooks_find", account.text(), id.text());
        if (rows.empty())
            return no_such_webhook(id);
        auto target = read_endpoint(rows[0]);
        const bool is_renewed = is_renewal(target, change);
        apply(target, change);
        if (is_renewed) {
            postgres::exec_prepared0(tx, make_due_now.name, account.text(), id.text());
            postgres::exec_prepared0(tx, delete_failures.name, account.text(), id.text());
        }
        return read_endpoint(postgres::exec_prepared1(
            tx, "webhooks_update", account.text(), id.text(), target.url,
            postgres::to_array(target.events.names()), target.description, target.is_enabled,
            target.disabled_reason.value_or(""), is_renewed));
    });
}

awaitable<result<void>> endpoint_repository::remove(account_id account, webhook_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<void> {
        if (!begin_config_change_if_any(tx, account))
            return no_such_webhook(id);
        const auto users =
            postgres::exec_prepared(tx, rules_of_webhook.name, account.text(), id.text());
        if (!users.empty()) {
            std::string names;
            for (const auto& row : users)
                names += (names.empty() ? "" : ", ") + quote(column<std::string>(row, "name"));
            return failure{errc::conflict,
                           "Webhook " + id.text() + " is named by the routing " +
                               (users.size() == 1 ? "rule " : "rules ") + names + "; delete " +
                               (users.size() == 1 ? "it" : "them") + " first",
                           error_reason::webhook_in_use};
        }
        if (postgres::exec_prepared(tx, delete_webhook.name, account.text(), id.text())
                .affected_rows() == 0)
            return no_such_webhook(id);
        postgres::exec_prepared(tx, delete_due.name, account.text(), id.text());
        return {};
    });
}

awaitable<void> endpoint_repository::disable(account_id account, webhook_id id, std::string reason,
                                             std::optional<time_point> renewed_at)
{
    const auto fence = renewed_at ? to_unix_micros(*renewed_at) : 0;
    return db_.transact([account, id, reason = std::move(reason), fence](pqxx::work& tx) {
        if (begin_config_change_if_any(tx, account))
            postgres::exec_prepared(tx, disable_webhook.name, account.text(), id.text(), reason,
                                    fence);
    });
}

awaitable<result<endpoint>> endpoint_repository::rotate_secret(account_id account, webhook_id id,
                                                               uuid rotation, std::string sealed)
{
    return db_.transact([account, id, rotation, sealed = std::move(sealed)](pqxx::work& tx) {
        return rotate_in(tx, account, id, rotation, sealed);
    });
}

awaitable<std::vector<secret_count>> endpoint_repository::count_secrets()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<secret_count> counts;
        for (const auto& row : postgres::exec_prepared(tx, count_by_key.name)) {
            secret_count read;
            read.key_id = column<std::string>(row, "key_id");
            read.secrets = column<std::int64_t>(row, "count");
            counts.push_back(std::move(read));
        }
        return counts;
    });
}

awaitable<std::vector<sealed_secret>>
endpoint_repository::find_sealed_otherwise(std::string key_id, secret_position after, int limit)
{
    return db_.transact([key_id = std::move(key_id), after, limit](pqxx::work& tx) {
        std::vector<sealed_secret> secrets;
        for (const auto& row :
             postgres::exec_prepared(tx, find_otherwise.name, key_id, after.account.text(),
                                     after.webhook.text(), after.replaced_by.text(), limit))
            secrets.push_back(read_sealed(row));
        return secrets;
    });
}

awaitable<int> endpoint_repository::reseal(std::vector<resealed_secret> secrets)
{
    std::vector<account_id> accounts;
    std::vector<webhook_id> webhooks;
    std::vector<uuid> rotations;
    std::vector<std::string> before, sealed;
    for (const auto& entry : secrets) {
        accounts.push_back(entry.before.position.account);
        webhooks.push_back(entry.before.position.webhook);
        rotations.push_back(entry.before.position.replaced_by);
        before.push_back(entry.before.sealed);
        sealed.push_back(entry.sealed);
    }
    return db_.transact(
        [accounts = postgres::to_array(accounts), webhooks = postgres::to_array(webhooks),
         rotations = postgres::to_array(rotations), before = postgres::to_array(before),
         sealed = postgres::to_array(sealed)](pqxx::work& tx) {
            return column<int>(postgres::exec_prepared1(tx, reseal_batch.name, accounts, webhooks,
                                                        rotations, before, sealed),
                               "resealed");
        });
}

awaitable<std::vector<disabled_notice>> endpoint_repository::claim_notices(int limit)
{
    return db_.transact([limit](pqxx::work& tx) {
        std::vector<disabled_notice> claimed;
        for (const auto& row : postgres::exec_prepared(tx, claim_due_notices.name, limit)) {
            disabled_notice notice;
            notice.id = column<uuid>(row, "notice_id");
            notice.account = column<account_id>(row, "account_id");
            notice.webhook = column<webhook_id>(row, "webhook_id");
            notice.url = column<std::string>(row, "url");
            notice.reason = column<std::string>(row, "reason");
            claimed.push_back(std::move(notice));
        }
        return claimed;
    });
}

awaitable<void> endpoint_repository::settle_notice(account_id account, webhook_id webhook,
                                                   uuid notice)
{
    return db_.transact([account, webhook, notice](pqxx::work& tx) {
        postgres::exec_prepared0(tx, settle_claimed_notice.name, account.text(), webhook.text(),
                                 notice.text());
    });
}

awaitable<void> endpoint_repository::add_failures(std::vector<failure_count> counts)
{
    return db_.transact([counts = std::move(counts)](pqxx::work& tx) {
        std::vector<webhook_id> webhooks;
        std::vector<account_id> accounts;
        std::vector<std::int64_t> failures, firsts, lasts;
        for (const auto& count : counts) {
            webhooks.push_back(count.webhook);
            accounts.push_back(count.account);
            failures.push_back(count.failures);
            firsts.push_back(to_unix_micros(count.first));
            lasts.push_back(to_unix_micros(count.last));
        }
        postgres::exec_prepared0(tx, add_counts.name, postgres::to_array(webhooks),
                                 postgres::to_array(accounts), postgres::to_array(failures),
                                 postgres::to_array(firsts), postgres::to_array(lasts));
    });
}

awaitable<std::vector<failing_webhook>> endpoint_repository::find_failing()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<failing_webhook> failing;
        for (const auto& row : postgres::exec_prepared(tx, find_suspects.name)) {
            const auto account = column<account_id>(row, "account_id");
            const auto webhook = column<webhook_id>(row, "webhook_id");
            if (postgres::exec_prepared(tx, restart_count.name, account.text(), webhook.text())
                    .affected_rows() != 0)
                continue;
            failing.push_back({account, webhook});
        }
        postgres::exec_prepared0(tx, purge_old_failures.name);
        return failing;
    });
}

awaitable<void> endpoint_repository::clear_failures(account_id account, webhook_id webhook)
{
    return db_.transact([account, webhook](pqxx::work& tx) {
        postgres::exec_prepared0(tx, delete_failures.name, account.text(), webhook.text());
    });
}

} // namespace tempinbox::webhooks
