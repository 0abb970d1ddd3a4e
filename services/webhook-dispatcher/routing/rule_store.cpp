#include "webhook-dispatcher/routing/rule_store.hpp"

#include "webhook-dispatcher/endpoints/endpoint_store.hpp"
#include "webhook-dispatcher/routing/config_store.hpp"

#include "common/json/value.hpp"
#include "common/json/writer.hpp"

namespace tempinbox::webhooks {

const char* const rule_columns = "account_id, rule_id, name, webhook_id, conditions, is_enabled, "
                                 "(extract(epoch FROM created_at) * 1000000)::bigint";

namespace {

const std::string columns = rule_columns;

const std::string find_sql =
    "SELECT " + columns + " FROM webhooks.rules WHERE account_id = $1::uuid AND rule_id = $2::uuid";

const std::string list_sql = "SELECT " + columns +
                             " FROM webhooks.rules WHERE account_id = $1::uuid ORDER BY created_at "
                             "DESC, rule_id DESC LIMIT 1000";

const std::string insert_sql = R"(
INSERT INTO webhooks.rules (account_id, rule_id, name, webhook_id, conditions, is_enabled)
VALUES ($1::uuid, $2::uuid, $3, $4::uuid, $5::jsonb, $6) RETURNING )" +
                               columns;

const std::string update_sql = R"(
UPDATE webhooks.rules SET name = $3, webhook_id = $4::uuid, conditions = $5::jsonb, is_enabled = $6
WHERE account_id = $1::uuid AND rule_id = $2::uuid RETURNING )" +
                               columns;

constexpr postgres::statement count_rules{
    "rules_count", "SELECT count(*) FROM webhooks.rules WHERE account_id = $1::uuid"};

constexpr postgres::statement webhook_exists{"rules_webhook_exists", R"(
SELECT 1 FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

constexpr postgres::statement delete_rule{"rules_delete", R"(
DELETE FROM webhooks.rules WHERE account_id = $1::uuid AND rule_id = $2::uuid)"};

std::string to_json(const std::vector<rules::condition>& conditions)
{
    json::writer out;
    out.begin_array();
    for (const auto& entry : conditions) {
        out.begin_object();
        out.member("field", rules::to_string(entry.what));
        out.member("operator", rules::to_string(entry.how));
        out.member("value", entry.value);
        out.end_object();
    }
    out.end_array();
    return out.take();
}

std::vector<rules::condition> read_conditions(std::string_view text)
{
    std::vector<rules::condition> conditions;
    const auto document = json::value::parse(text).value();
    for (const auto& entry : document.items()) {
        rules::condition read;
        read.what = rules::parse_field(entry["field"].text()).value();
        read.how = rules::parse_comparison(entry["operator"].text()).value();
        read.value = entry["value"].text();
        conditions.push_back(std::move(read));
    }
    return conditions;
}

failure no_such_rule(rule_id id)
{
    return failure{errc::not_found, "Rule " + id.text() + " does not exist"};
}

void apply(rules::rule& target, rule_change change)
{
    if (change.name)
        target.name = std::move(*change.name);
    if (change.webhook)
        target.webhook = *change.webhook;
    if (change.conditions)
        target.conditions = std::move(*change.conditions);
    if (change.is_enabled)
        target.is_enabled = *change.is_enabled;
}

} // namespace

failure no_rules_on(const plans::account_state& account, time_point now)
{
    return failure{errc::permission_denied,
                   "Routing rules are not part of the plan " + account.plan_at(now)};
}

stored_rule read_rule(const pqxx::row& row)
{
    stored_rule read;
    read.rule.id = rule_id::parse(row[1].as<std::string>()).value();
    read.rule.name = row[2].as<std::string>();
    read.rule.webhook = webhook_id::parse(row[3].as<std::string>()).value();
    read.rule.conditions = read_conditions(row[4].as<std::string>());
    read.rule.is_enabled = row[5].as<bool>();
    read.created_at = from_unix_micros(row[6].as<std::int64_t>());
    return read;
}

rule_store::rule_store(postgres::pool& db) : db_(db)
{
    db_.prepare({"rules_find", find_sql.c_str()});
    db_.prepare({"rules_list", list_sql.c_str()});
    db_.prepare({"rules_insert", insert_sql.c_str()});
    db_.prepare({"rules_update", update_sql.c_str()});
    for (const auto& statement : {count_rules, webhook_exists, delete_rule})
        db_.prepare(statement);
}

awaitable<result<stored_rule>> rule_store::create(plans::account_state account,
                                                  rules::rule requested)
{
    return db_.transact([account = std::move(account),
                         requested = std::move(requested)](pqxx::work& tx) -> result<stored_rule> {
        const auto owner = account.account.text();
        // Without a configuration no webhook can be named; the plan is still checked first.
        const bool has_config = begin_config_change_if_any(tx, account.account);
        const auto now = system_clock_source{}.now();
        const auto known = has_config ? update_account_state(tx, account) : account;
        const int allowed = known.limits_at(now).routing_rules;
        if (allowed <= 0)
            return no_rules_on(known, now);
        if (has_config) {
            const auto existing = tx.exec_prepared("rules_find", owner, requested.id.text());
            if (!existing.empty())
                return read_rule(existing[0]);
        }
        if (!has_config ||
            tx.exec_prepared(webhook_exists.name, owner, requested.webhook.text()).empty())
            return no_such_webhook(requested.webhook);
        if (tx.exec_prepared1(count_rules.name, owner)[0].as<int>() >= allowed)
            return failure{errc::permission_denied,
                           "The plan " + known.plan_at(now) + " has " + std::to_string(allowed) +
                               " routing rules, all in use; delete one first"};
        return read_rule(tx.exec_prepared1("rules_insert", owner, requested.id.text(),
                                           requested.name, requested.webhook.text(),
                                           to_json(requested.conditions), requested.is_enabled));
    });
}

awaitable<result<stored_rule>> rule_store::find(account_id account, rule_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<stored_rule> {
        const auto rows = tx.exec_prepared("rules_find", account.text(), id.text());
        if (rows.empty())
            return no_such_rule(id);
        return read_rule(rows[0]);
    });
}

awaitable<result<stored_rule>> rule_store::update(plans::account_state account, rule_id id,
                                                  rule_change change)
{
    return db_.transact([account = std::move(account), id,
                         change = std::move(change)](pqxx::work& tx) -> result<stored_rule> {
        const auto owner = account.account.text();
        if (!begin_config_change_if_any(tx, account.account))
            return no_such_rule(id);
        const auto known = update_account_state(tx, account);
        const auto rows = tx.exec_prepared("rules_find", owner, id.text());
        if (rows.empty())
            return no_such_rule(id);
        if (change.webhook &&
            tx.exec_prepared(webhook_exists.name, owner, change.webhook->text()).empty())
            return no_such_webhook(*change.webhook);
        const auto now = system_clock_source{}.now();
        if (known.limits_at(now).routing_rules <= 0)
            return no_rules_on(known, now);
        auto target = read_rule(rows[0]).rule;
        apply(target, change);
        return read_rule(tx.exec_prepared1("rules_update", owner, id.text(), target.name,
                                           target.webhook.text(), to_json(target.conditions),
                                           target.is_enabled));
    });
}

awaitable<std::vector<stored_rule>> rule_store::list(account_id account)
{
    return db_.transact([account](pqxx::work& tx) {
        std::vector<stored_rule> found;
        for (const auto& row : tx.exec_prepared("rules_list", account.text()))
            found.push_back(read_rule(row));
        return found;
    });
}

awaitable<result<void>> rule_store::remove(account_id account, rule_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<void> {
        if (!begin_config_change_if_any(tx, account) ||
            tx.exec_prepared(delete_rule.name, account.text(), id.text()).affected_rows() == 0)
            return no_such_rule(id);
        return {};
    });
}

} // namespace tempinbox::webhooks
