#include "common/plans/account_state_store.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

#include <map>

namespace tempinbox::plans {
namespace {

constexpr const char* put_states = R"(
INSERT INTO %.account_states AS known (account_id, version, state)
SELECT account_id, version, state
FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS states(account_id, version, state)
ON CONFLICT (account_id) DO UPDATE SET version = EXCLUDED.version, state = EXCLUDED.state
WHERE known.version < EXCLUDED.version)";

constexpr const char* find_state = "SELECT state FROM %.account_states WHERE account_id = $1::uuid";

std::string for_schema(std::string sql, const std::string& schema)
{
    return sql.replace(sql.find('%'), 1, schema);
}

} // namespace

void put(pqxx::work& tx, const std::string& schema, const std::vector<account_state>& states)
{
    // In the order of the ids, so that two writers cannot deadlock; one row for each id, since a
    // statement may not touch a row twice.
    std::map<account_id, const account_state*> newest;
    for (const auto& state : states) {
        auto& kept = newest[state.account];
        if (kept == nullptr || kept->version < state.version)
            kept = &state;
    }
    if (newest.empty())
        return;

    std::vector<account_id> ids;
    std::vector<std::int64_t> versions;
    std::vector<std::string> serialized;
    for (const auto& [account, state] : newest) {
        ids.push_back(account);
        versions.push_back(state->version);
        serialized.push_back(to_proto(*state).SerializeAsString());
    }
    const std::vector<postgres::bytea> payloads(serialized.begin(), serialized.end());
    tx.exec_params0(for_schema(put_states, schema), postgres::to_array(ids),
                    postgres::to_array(versions), postgres::to_array(payloads));
}

std::optional<account_state> find(pqxx::work& tx, const std::string& schema, account_id account)
{
    const auto name = "find_account_state_" + schema;
    postgres::session_of(tx).define(name, for_schema(find_state, schema));
    const auto rows = postgres::exec_prepared(tx, name, account.text());
    if (rows.empty())
        return std::nullopt;
    accounts::v1::AccountState message;
    if (!message.ParseFromString(postgres::bytes_of(rows[0]["state"])))
        throw std::runtime_error("state of account " + account.text() + " cannot be read");
    return from_proto(message).value();
}

} // namespace tempinbox::plans
