#include "webhook-dispatcher/routing/config_store.hpp"

#include "webhook-dispatcher/endpoints/endpoint_store.hpp"
#include "webhook-dispatcher/routing/rule_store.hpp"

#include "common/plans/account_state_store.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/parameters.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

constexpr postgres::statement next_version{"config_next_version", R"(
INSERT INTO webhooks.config_versions AS known (account_id, version) VALUES ($1::uuid, 1)
ON CONFLICT (account_id) DO UPDATE SET version = known.version + 1)"};

constexpr postgres::statement next_version_if_any{"config_next_version_if_any", R"(
UPDATE webhooks.config_versions SET version = version + 1 WHERE account_id = $1::uuid)"};

constexpr postgres::statement find_versions{"config_versions", R"(
SELECT account_id, version FROM webhooks.config_versions WHERE account_id = ANY($1::uuid[]))"};

constexpr postgres::statement find_states{"config_states", R"(
SELECT account_id, state FROM webhooks.account_state WHERE account_id = ANY($1::uuid[]))"};

// Locks in the order of the ids, as every other writer of several accounts does.
constexpr postgres::statement next_versions{"config_next_versions", R"(
WITH locked AS (
    SELECT account_id FROM webhooks.config_versions WHERE account_id = ANY($1::uuid[]) ORDER BY account_id FOR UPDATE)
UPDATE webhooks.config_versions v SET version = version + 1 FROM locked WHERE v.account_id = locked.account_id)"};

constexpr postgres::statement delete_rules{
    "config_delete_rules", "DELETE FROM webhooks.rules WHERE account_id = ANY($1::uuid[])"};
constexpr postgres::statement delete_endpoints{
    "config_delete_endpoints", "DELETE FROM webhooks.endpoints WHERE account_id = ANY($1::uuid[])"};

// Their many deliveries are purged later, step by step (retention). An account without a version
// never had any.
constexpr postgres::statement note_deleted{"config_note_deleted", R"(
INSERT INTO webhooks.deleted_accounts (account_id, webhook_ids)
SELECT v.account_id, array(SELECT e.webhook_id FROM webhooks.endpoints e WHERE e.account_id = v.account_id)
FROM webhooks.config_versions v WHERE v.account_id = ANY($1::uuid[])
ON CONFLICT (account_id) DO NOTHING)"};

constexpr postgres::statement delete_replays{"config_delete_replays", R"(
DELETE FROM webhooks.replays r USING webhooks.endpoints e WHERE e.account_id = ANY($1::uuid[]) AND r.webhook_id = e.webhook_id)"};
constexpr postgres::statement delete_failures{"config_delete_failures", R"(
DELETE FROM webhooks.failing_endpoints f USING webhooks.endpoints e WHERE e.account_id = ANY($1::uuid[]) AND f.webhook_id = e.webhook_id)"};

const std::string endpoints_sql = std::string("SELECT ") + endpoint_columns +
                                  " FROM webhooks.endpoints WHERE account_id = ANY($1::uuid[]) "
                                  "ORDER BY account_id, created_at, webhook_id";
const std::string rules_sql = std::string("SELECT ") + rule_columns +
                              " FROM webhooks.rules WHERE account_id = ANY($1::uuid[]) ORDER BY "
                              "account_id, created_at, rule_id";

std::string id_array(const std::vector<account_id>& accounts)
{
    std::vector<std::string> texts;
    texts.reserve(accounts.size());
    for (const auto& account : accounts)
        texts.push_back(account.text());
    return postgres::text_array(texts);
}

account_id read_account(const pqxx::field& field)
{
    return account_id::parse(field.as<std::string>()).value();
}

plans::account_state read_state(const pqxx::field& field)
{
    accounts::v1::AccountState message;
    if (!message.ParseFromString(postgres::bytes_of(field)))
        throw std::runtime_error("a stored account state cannot be read");
    return plans::from_proto(message).value();
}

} // namespace

void begin_config_change(pqxx::work& tx, account_id account)
{
    tx.exec_prepared0(next_version.name, account.text());
}

bool begin_config_change_if_any(pqxx::work& tx, account_id account)
{
    return tx.exec_prepared(next_version_if_any.name, account.text()).affected_rows() != 0;
}

plans::account_state update_account_state(pqxx::work& tx, const plans::account_state& given)
{
    plans::put(tx, "webhooks", {given});
    return plans::find(tx, "webhooks", given.account).value_or(given);
}

config_store::config_store(postgres::pool& db) : db_(db)
{
    db_.prepare({"config_endpoints", endpoints_sql.c_str()});
    db_.prepare({"config_rules", rules_sql.c_str()});
    for (const auto& statement :
         {next_version, next_version_if_any, find_versions, find_states, next_versions,
          delete_rules, delete_endpoints, note_deleted, delete_replays, delete_failures})
        db_.prepare(statement);
}

awaitable<std::unordered_map<account_id, std::int64_t>>
config_store::versions(const std::vector<account_id>& accounts)
{
    using found_versions = std::unordered_map<account_id, std::int64_t>;
    return postgres::run_autocommit<found_versions>(
        db_, [ids = id_array(accounts)](pqxx::nontransaction& tx) {
            found_versions found;
            for (const auto& row : tx.exec_prepared(find_versions.name, ids))
                found.emplace(read_account(row[0]), row[1].as<std::int64_t>());
            return found;
        });
}

awaitable<std::vector<stored_config>> config_store::load(const std::vector<account_id>& accounts)
{
    return db_.transact([ids = id_array(accounts)](pqxx::work& tx) {
        std::vector<stored_config> configs;
        std::unordered_map<account_id, std::size_t> indexes;
        // Versions first: what is read after them is at least as new. Rules before endpoints: a
        // rule that was read has its endpoint, unless that was deleted since.
        for (const auto& row : tx.exec_prepared(find_versions.name, ids)) {
            stored_config config;
            config.account = read_account(row[0]);
            config.version = row[1].as<std::int64_t>();
            indexes.emplace(config.account, configs.size());
            configs.push_back(std::move(config));
        }
        const auto config_of = [&](const pqxx::row& row) -> stored_config* {
            const auto found = indexes.find(read_account(row[0]));
            return found == indexes.end() ? nullptr : &configs[found->second];
        };
        for (const auto& row : tx.exec_prepared("config_rules", ids))
            if (auto* config = config_of(row))
                config->rules.push_back(read_rule(row).rule);
        for (const auto& row : tx.exec_prepared("config_endpoints", ids))
            if (auto* config = config_of(row))
                config->endpoints.push_back(read_endpoint(row));
        for (const auto& row : tx.exec_prepared(find_states.name, ids))
            if (auto* config = config_of(row))
                config->state = read_state(row[1]);
        return configs;
    });
}

awaitable<void> config_store::put_states(std::vector<plans::account_state> states)
{
    return db_.transact([states = std::move(states)](pqxx::work& tx) {
        std::vector<account_id> changed, deleted;
        for (const auto& state : states) {
            changed.push_back(state.account);
            if (state.is_deleted)
                deleted.push_back(state.account);
        }
        tx.exec_prepared0(next_versions.name, id_array(changed));
        plans::put(tx, "webhooks", states);
        if (deleted.empty())
            return;
        const auto ids = id_array(deleted);
        for (const auto& step :
             {note_deleted, delete_replays, delete_failures, delete_rules, delete_endpoints})
            tx.exec_prepared0(step.name, ids);
    });
}

} // namespace tempinbox::webhooks
