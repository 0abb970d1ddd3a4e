#include "webhook-dispatcher/endpoints/endpoint_store.hpp"

#include "webhook-dispatcher/routing/config_store.hpp"

#include "common/core/text.hpp"
#include "common/json/value.hpp"
#include "common/postgres/parameters.hpp"

namespace tempinbox::webhooks {

const char* const endpoint_columns =
    R"(account_id, webhook_id, url, array_to_string(events, ','), description, is_enabled, disabled_reason,
    sealed_secret, rotation_id, (extract(epoch FROM renewed_at) * 1000000)::bigint,
    (SELECT coalesce(json_agg(json_build_object('sealed', p.sealed_secret, 'until', (extract(epoch FROM p.valid_until) * 1000000)::bigint)
                              ORDER BY p.valid_until DESC), '[]')
     FROM webhooks.previous_secrets p WHERE p.account_id = endpoints.account_id AND p.webhook_id = endpoints.webhook_id),
    (extract(epoch FROM created_at) * 1000000)::bigint)";

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
UPDATE webhooks.endpoints SET url = $3, events = $4::text[], description = $5, is_enabled = $6, disabled_reason = nullif($7, ''),
    notice_id = CASE WHEN $6 THEN NULL ELSE notice_id END, notice_at = CASE WHEN $6 THEN NULL ELSE notice_at END,
    renewed_at = CASE WHEN $8 THEN clock_timestamp() ELSE renewed_at END
WHERE account_id = $1::uuid AND webhook_id = $2::uuid RETURNING )" +
                               columns;

const std::string list_first_sql =
    "SELECT " + columns + R"( FROM webhooks.endpoints WHERE account_id = $1::uuid
ORDER BY created_at DESC, webhook_id DESC LIMIT $2)";

const std::string list_after_sql =
    "SELECT " + columns + R"( FROM webhooks.endpoints WHERE account_id = $1::uuid
  AND (created_at, webhook_id) < (timestamptz 'epoch' + $3 * interval '1 microsecond', $4::uuid)
ORDER BY created_at DESC, webhook_id DESC LIMIT $2)";

constexpr postgres::statement count_webhooks{"webhooks_count", R"(
SELECT count(*) FROM webhooks.endpoints WHERE account_id = $1::uuid)"};

constexpr postgres::statement rules_of_webhook{"webhooks_rules_of_webhook", R"(
SELECT name FROM webhooks.rules WHERE account_id = $1::uuid AND webhook_id = $2::uuid ORDER BY created_at, rule_id LIMIT 20)"};

constexpr postgres::statement delete_webhook{"webhooks_delete", R"(
DELETE FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

// Rows in flight are left to their sender, which drops them; the rest is dropped as it comes due.
constexpr postgres::statement delete_due{"webhooks_forget_due", R"(
DELETE FROM webhooks.due_deliveries WHERE (event_id, webhook_id) IN (
    SELECT event_id, webhook_id FROM webhooks.due_deliveries
    WHERE webhook_id = $2::uuid AND account_id = $1::uuid AND lease_id IS NULL LIMIT 5000 FOR UPDATE SKIP LOCKED))"};

constexpr postgres::statement disable_webhook{"webhooks_disable", R"(
UPDATE webhooks.endpoints SET is_enabled = false, disabled_reason = $3, notice_id = gen_random_uuid(), notice_at = now()
WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND is_enabled
  AND ($4::bigint = 0 OR (extract(epoch FROM renewed_at) * 1000000)::bigint = $4))"};

// First attempts that waited for the receiver to recover; retries keep their schedule.
constexpr postgres::statement make_due_now{"webhooks_hasten_due", R"(
UPDATE webhooks.due_deliveries SET run_at = now() WHERE (event_id, webhook_id) IN (
    SELECT event_id, webhook_id FROM webhooks.due_deliveries
    WHERE webhook_id = $2::uuid AND account_id = $1::uuid AND lease_id IS NULL AND NOT is_retry AND run_at > now()
    LIMIT 5000 FOR UPDATE SKIP LOCKED))"};

constexpr postgres::statement delete_failures{"webhooks_forget_failures", R"(
DELETE FROM webhooks.failing_endpoints WHERE webhook_id = $1::uuid)"};

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
        return failure{errc::permission_denied, "Webhooks are not part of the plan " + plan};
    return failure{errc::permission_denied,
                   "The plan " + plan + " has " + std::to_string(allowed) +
                       (allowed == 1 ? " webhook" : " webhooks") +
                       ", all in use; DELETE /v1/webhooks/{webhookId} frees one"};
}

} // namespace

failure no_such_webhook(webhook_id id)
{
    return failure{errc::not_found, "Webhook " + id.text() + " does not exist"};
}

endpoint read_endpoint(const pqxx::row& row)
{
    endpoint read;
    read.account = account_id::parse(row[0].as<std::string>()).value();
    read.id = webhook_id::parse(row[1].as<std::string>()).value();
    read.url = row[2].as<std::string>();
    read.events = read_event_set(split_list(row[3].as<std::string>())).value();
    read.description = row[4].as<std::string>();
    read.is_enabled = row[5].as<bool>();
    if (!row[6].is_null())
        read.disabled_reason = row[6].as<std::string>();
    read.sealed_secret = row[7].as<std::string>();
    if (!row[8].is_null())
        read.rotation = uuid::parse(row[8].as<std::string>()).value();
    read.renewed_at = from_unix_micros(row[9].as<std::int64_t>());
    read.previous_secrets = read_previous_secrets(row[10].as<std::string>());
    read.created_at = from_unix_micros(row[11].as<std::int64_t>());
    return read;
}

endpoint_store::endpoint_store(postgres::pool& db) : db_(db)
{
    db_.prepare({"webhooks_find", find_sql.c_str()});
    db_.prepare({"webhooks_insert", insert_sql.c_str()});
    db_.prepare({"webhooks_update", update_sql.c_str()});
    db_.prepare({"webhooks_list_first", list_first_sql.c_str()});
    db_.prepare({"webhooks_list_after", list_after_sql.c_str()});
    for (const auto& statement : {count_webhooks, rules_of_webhook, delete_webhook, delete_due,
                                  disable_webhook, make_due_now, delete_failures})
        db_.prepare(statement);
}

awaitable<result<endpoint>> endpoint_store::create(plans::account_state account, endpoint requested)
{
    return db_.transact([account = std::move(account),
                         requested = std::move(requested)](pqxx::work& tx) -> result<endpoint> {
        begin_config_change(tx, account.account);
        const auto known = update_account_state(tx, account);
        const auto existing =
            tx.exec_prepared("webhooks_find", account.account.text(), requested.id.text());
        if (!existing.empty())
            return read_endpoint(existing[0]);

        const int allowed = known.limits_at(system_clock_source{}.now()).webhooks;
        const auto used =
            tx.exec_prepared1(count_webhooks.name, account.account.text())[0].as<int>();
        if (used >= allowed)
            return number_is_used_up(known, allowed);
        return read_endpoint(tx.exec_prepared1("webhooks_insert", account.account.text(),
                                               requested.id.text(), requested.url,
                                               postgres::text_array(requested.events.names()),
                                               requested.description, requested.sealed_secret));
    });
}

awaitable<result<endpoint>> endpoint_store::find(account_id account, webhook_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<endpoint> {
        const auto rows = tx.exec_prepared("webhooks_find", account.text(), id.text());
        if (rows.empty())
            return no_such_webhook(id);
        return read_endpoint(rows[0]);
    });
}

awaitable<std::vector<endpoint>>
endpoint_store::list(account_id account, std::optional<endpoint_position> after, int limit)
{
    return db_.transact([account, after, limit](pqxx::work& tx) {
        const auto rows =
            after ? tx.exec_prepared("webhooks_list_after", account.text(), limit,
                                     to_unix_micros(after->created_at), after->id.text())
                  : tx.exec_prepared("webhooks_list_first", account.text(), limit);
        std::vector<endpoint> found;
        for (const auto& row : rows)
            found.push_back(read_endpoint(row));
        return found;
    });
}

awaitable<result<endpoint>> endpoint_store::update(account_id account, webhook_id id,
                                                   endpoint_change change)
{
    return db_.transact([account, id,
                         change = std::move(change)](pqxx::work& tx) -> result<endpoint> {
        if (!begin_config_change_if_any(tx, account))
            return no_such_webhook(id);
        const auto rows = tx.exec_prepared("webhooks_find", account.text(), id.text());
        if (rows.empty())
            return no_such_webhook(id);
        auto target = read_endpoint(rows[0]);
        const bool is_renewed = is_renewal(target, change);
        apply(target, change);
        if (is_renewed) {
            tx.exec_prepared0(make_due_now.name, account.text(), id.text());
            tx.exec_prepared0(delete_failures.name, id.text());
        }
        return read_endpoint(
            tx.exec_prepared1("webhooks_update", account.text(), id.text(), target.url,
                              postgres::text_array(target.events.names()), target.description,
                              target.is_enabled, target.disabled_reason.value_or(""), is_renewed));
    });
}

awaitable<result<void>> endpoint_store::remove(account_id account, webhook_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<void> {
        if (!begin_config_change_if_any(tx, account))
            return no_such_webhook(id);
        const auto users = tx.exec_prepared(rules_of_webhook.name, account.text(), id.text());
        if (!users.empty()) {
            std::string names;
            for (const auto& row : users)
                names += (names.empty() ? "" : ", ") + quote(row[0].as<std::string>());
            return failure{errc::conflict, "Webhook " + id.text() + " is named by the routing " +
                                               (users.size() == 1 ? "rule " : "rules ") + names +
                                               "; delete " + (users.size() == 1 ? "it" : "them") +
                                               " first"};
        }
        if (tx.exec_prepared(delete_webhook.name, account.text(), id.text()).affected_rows() == 0)
            return no_such_webhook(id);
        tx.exec_prepared(delete_due.name, account.text(), id.text());
        return {};
    });
}

awaitable<void> endpoint_store::disable(account_id account, webhook_id id, std::string reason,
                                        std::optional<time_point> renewed_at)
{
    const auto fence = renewed_at ? to_unix_micros(*renewed_at) : 0;
    return db_.transact([account, id, reason = std::move(reason), fence](pqxx::work& tx) {
        if (begin_config_change_if_any(tx, account))
            tx.exec_prepared(disable_webhook.name, account.text(), id.text(), reason, fence);
    });
}

} // namespace tempinbox::webhooks
