#include "webhook-dispatcher/storage/rule_repository.hpp"

#include "common/postgres/session.hpp"
#include "webhook-dispatcher/storage/config_change.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "common/json/value.hpp"
#include "common/json/writer.hpp"
#include "common/plans/account_state_store.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

namespace tempinbox::webhooks {
namespace {

using postgres::column;

// The columns of a rule, as read_rule reads them.
const std::string columns = "account_id, rule_id, name, webhook_id, conditions, is_enabled, "
                            "(extract(epoch FROM created_at) * 1000000)::bigint AS created_at";

const std::string find_sql =
    "SELECT " + columns + " FROM webhooks.rules WHERE account_id = $1::uuid AND rule_id = $2::uuid";

const std::string list_sql = "SELECT " + columns +
                             " FROM webhooks.rules WHERE account_id = $1::uuid ORDER BY "
                             "rules.created_at DESC, rule_id DESC LIMIT 1000";

const std::string insert_sql = R"(
INSERT INTO webhooks.rules (account_id, rule_id, name, webhook_id, conditions, is_enabled)
VALUES ($1::uuid, $2::uuid, $3, $4::uuid, $5::jsonb, $6) RETURNING )" +
                               columns;

const std::string update_sql = R"(
UPDATE webhooks.rules SET name = $3, webhook_id = $4::uuid, conditions = $5::jsonb, is_enabled = $6
WHERE account_id = $1::uuid AND rule_id = $2::uuid RETURNING )" +
                               columns;

constexpr postgres::statement count_rules{
    "rules_count", "SELECT count(*) AS count FROM webhooks.rules WHERE account_id = $1::uuid"};

constexpr postgres::statement webhook_exists{"rules_webhook_exists", R"(
SELECT 1 FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

constexpr postgres::statement delete_rule{"rules_delete", R"(
DELETE FROM webhooks.rules WHERE account_id = $1::uuid AND rule_id = $2::uuid)"};

constexpr postgres::statement find_config_versions{"config_versions", R"(
SELECT account_id, version FROM webhooks.config_versions WHERE account_id = ANY($1::uuid[]))"};

constexpr postgres::statement find_states{"config_states", R"(
SELECT account_id, state FROM webhooks.account_states WHERE account_id = ANY($1::uuid[]))"};

// Locks in the order of the ids, as every other writer of several accounts does.
constexpr postgres::statement next_versions{"config_next_versions", R"(
WITH locked AS (
    SELECT account_id FROM webhooks.config_versions WHERE account_id = ANY($1::uuid[])
        ORDER BY account_id FOR UPDATE)
UPDATE webhooks.config_versions v SET version = version + 1 FROM locked
    WHERE v.account_id = locked.account_id)"};

constexpr postgres::statement delete_rules{
    "config_delete_rules", "DELETE FROM webhooks.rules WHERE account_id = ANY($1::uuid[])"};
constexpr postgres::statement delete_endpoints{
    "config_delete_endpoints", "DELETE FROM webhooks.endpoints WHERE account_id = ANY($1::uuid[])"};

// Their many deliveries and events are purged later, step by step (retention). An account without
// a version never had any.
constexpr postgres::statement note_deleted{"config_note_deleted", R"(
INSERT INTO webhooks.deleted_accounts (account_id)
SELECT v.account_id FROM webhooks.config_versions v WHERE v.account_id = ANY($1::uuid[])
ON CONFLICT (account_id) DO NOTHING)"};

// In the order of the ids, as recording locks them.
constexpr postgres::statement delete_feeds{"config_delete_feeds", R"(
WITH locked AS MATERIALIZED (
    SELECT account_id FROM webhooks.feeds WHERE account_id = ANY($1::uuid[])
        ORDER BY account_id FOR UPDATE)
DELETE FROM webhooks.feeds AS f USING locked AS l WHERE f.account_id = l.account_id)"};
constexpr postgres::statement find_recorded{"config_recorded", R"(
SELECT account_id FROM webhooks.feeds WHERE account_id = ANY($1::uuid[]) AND is_recording)"};

constexpr postgres::statement delete_replays{
    "config_delete_replays", "DELETE FROM webhooks.replays WHERE account_id = ANY($1::uuid[])"};
constexpr postgres::statement delete_failures{
    "config_delete_failures",
    "DELETE FROM webhooks.failing_endpoints WHERE account_id = ANY($1::uuid[])"};

const std::string endpoints_sql = std::string("SELECT ") + endpoint_columns +
                                  " FROM webhooks.endpoints WHERE account_id = ANY($1::uuid[]) "
                                  "ORDER BY account_id, endpoints.created_at, webhook_id";
const std::string rules_sql = "SELECT " + columns +
                              " FROM webhooks.rules WHERE account_id = ANY($1::uuid[]) ORDER BY "
                              "account_id, rules.created_at, rule_id";

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

stored_rule read_rule(const pqxx::row& row)
{
    stored_rule read;
    read.rule.id = column<rule_id>(row, "rule_id");
    read.rule.name = column<std::string>(row, "name");
    read.rule.webhook = column<webhook_id>(row, "webhook_id");
    read.rule.conditions = read_conditions(column<std::string>(row, "conditions"));
    read.rule.is_enabled = column<bool>(row, "is_enabled");
    read.created_at = column<time_point>(row, "created_at");
    return read;
}

plans::account_state read_state(const pqxx::field& field)
{
    accounts::v1::AccountState message;
    if (!message.ParseFromString(postgres::bytes_of(field)))
        throw std::runtime_error("a stored account state cannot be read");
    return plans::from_proto(message).value();
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
                   "Routing rules are not part of the plan " + account.plan_at(now),
                   error_reason::plan_required};
}

rule_repository::rule_repository(postgres::pool& db) : db_(db)
{
    prepare_config_changes(db_);
    db_.prepare({"rules_find", find_sql.c_str()});
    db_.prepare({"rules_list", list_sql.c_str()});
    db_.prepare({"rules_insert", insert_sql.c_str()});
    db_.prepare({"rules_update", update_sql.c_str()});
    db_.prepare({"config_endpoints", endpoints_sql.c_str()});
    db_.prepare({"config_rules", rules_sql.c_str()});
    for (const auto& statement :
         {count_rules, webhook_exists, delete_rule, find_config_versions, find_states,
          next_versions, delete_rules, delete_endpoints, note_deleted, delete_feeds, find_recorded,
          delete_replays, delete_failures})
        db_.prepare(statement);
}

awaitable<result<stored_rule>> rule_repository::create(plans::account_state account,
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
            const auto existing =
                postgres::exec_prepared(tx, "rules_find", owner, requested.id.text());
            if (!existing.empty())
                return read_rule(existing[0]);
        }
        if (!has_config ||
            postgres::exec_prepared(tx, webhook_exists.name, owner, requested.webhook.text())
                .empty())
            return no_such_webhook(requested.webhook);
        if (column<int>(postgres::exec_prepared1(tx, count_rules.name, owner), "count") >= allowed)
            return failure{errc::permission_denied,
                           "The plan " + known.plan_at(now) + " has " + std::to_string(allowed) +
                               " routing rules, all in use; delete one first",
                           error_reason::rule_limit};
        return read_rule(postgres::exec_prepared1(
            tx, "rules_insert", owner, requested.id.text(), requested.name,
            requested.webhook.text(), to_json(requested.conditions), requested.is_enabled));
    });
}

awaitable<result<stored_rule>> rule_repository::find(account_id account, rule_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<stored_rule> {
        const auto rows = postgres::exec_prepared(tx, "rules_find", account.text(), id.text());
        if (rows.empty())
            return no_such_rule(id);
        return read_rule(rows[0]);
    });
}

awaitable<result<stored_rule>> rule_repository::update(plans::account_state account, rule_id id,
                                                       rule_change change)
{
    return db_.transact([account = std::move(account), id,
                         change = std::move(change)](pqxx::work& tx) -> result<stored_rule> {
        const auto owner = account.account.text();
        if (!begin_config_change_if_any(tx, account.account))
            return no_such_rule(id);
        const auto known = update_account_state(tx, account);
        const auto rows = postgres::exec_prepared(tx, "rules_find", owner, id.text());
        if (rows.empty())
            return no_such_rule(id);
        if (change.webhook &&
            postgres::exec_prepared(tx, webhook_exists.name, owner, change.webhook->text()).empty())
            return no_such_webhook(*change.webhook);
        const auto now = system_clock_source{}.now();
        if (known.limits_at(now).routing_rules <= 0)
            return no_rules_on(known, now);
        auto target = read_rule(rows[0]).rule;
        apply(target, change);
        return read_rule(postgres::exec_prepared1(tx, "rules_update", owner, id.text(), target.name,
                                                  target.webhook.text(), to_json(target.conditions),
                                                  target.is_enabled));
    });
}

awaitable<std::vector<stored_rule>> rule_repository::list(account_id account)
{
    return db_.transact([account](pqxx::work& tx) {
        std::vector<stored_rule> rules;
        for (const auto& row : postgres::exec_prepared(tx, "rules_list", account.text()))
            rules.push_back(read_rule(row));
        return rules;
    });
}

awaitable<result<void>> rule_repository::remove(account_id account, rule_id id)
{
    return db_.transact([account, id](pqxx::work& tx) -> result<void> {
        if (!begin_config_change_if_any(tx, account) ||
            postgres::exec_prepared(tx, delete_rule.name, account.text(), id.text())
                    .affected_rows() == 0)
            return no_such_rule(id);
        return {};
    });
}

awaitable<std::unordered_map<account_id, std::int64_t>>
rule_repository::find_versions(const std::vector<account_id>& accounts)
{
    using version_map = std::unordered_map<account_id, std::int64_t>;
    return postgres::run_autocommit<version_map>(
        db_, [ids = postgres::to_array(accounts)](pqxx::nontransaction& tx) {
            version_map versions;
            for (const auto& row : postgres::exec_prepared(tx, find_config_versions.name, ids))
                versions.emplace(column<account_id>(row, "account_id"),
                                 column<std::int64_t>(row, "version"));
            return versions;
        });
}

awaitable<std::vector<stored_config>>
rule_repository::load_configs(const std::vector<account_id>& accounts)
{
    return db_.transact([ids = postgres::to_array(accounts)](pqxx::work& tx) {
        std::vector<stored_config> configs;
        std::unordered_map<account_id, std::size_t> indexes;
        // Versions first: what is read after them is at least as new. Rules before endpoints: a
        // rule that was read has its endpoint, unless that was deleted since.
        for (const auto& row : postgres::exec_prepared(tx, find_config_versions.name, ids)) {
            stored_config config;
            config.account = column<account_id>(row, "account_id");
            config.version = column<std::int64_t>(row, "version");
            indexes.emplace(config.account, configs.size());
            configs.push_back(std::move(config));
        }
        const auto config_of = [&](const pqxx::row& row) -> stored_config* {
            const auto index = indexes.find(column<account_id>(row, "account_id"));
            return index == indexes.end() ? nullptr : &configs[index->second];
        };
        for (const auto& row : postgres::exec_prepared(tx, "config_rules", ids))
            if (auto* config = config_of(row))
                config->rules.push_back(read_rule(row).rule);
        for (const auto& row : postgres::exec_prepared(tx, "config_endpoints", ids))
            if (auto* config = config_of(row))
                config->endpoints.push_back(read_endpoint(row));
        for (const auto& row : postgres::exec_prepared(tx, find_states.name, ids))
            if (auto* config = config_of(row))
                config->state = read_state(row["state"]);
        for (const auto& row : postgres::exec_prepared(tx, find_recorded.name, ids))
            if (auto* config = config_of(row))
                config->is_recorded = true;
        return configs;
    });
}

awaitable<void> rule_repository::put_states(std::vector<plans::account_state> states)
{
    return db_.transact([states = std::move(states)](pqxx::work& tx) {
        std::vector<account_id> changed, deleted;
        for (const auto& state : states) {
            changed.push_back(state.account);
            if (state.is_deleted)
                deleted.push_back(state.account);
        }
        postgres::exec_prepared0(tx, next_versions.name, postgres::to_array(changed));
        plans::put(tx, "webhooks", states);
        if (deleted.empty())
            return;
        const auto ids = postgres::to_array(deleted);
        for (const auto& step : {note_deleted, delete_feeds, delete_replays, delete_failures,
                                 delete_rules, delete_endpoints})
            postgres::exec_prepared0(tx, step.name, ids);
    });
}

} // namespace tempinbox::webhooks
