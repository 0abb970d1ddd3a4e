#include "webhook-dispatcher/storage/config_change.hpp"

#include "common/plans/account_state_store.hpp"
#include "common/postgres/session.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr postgres::statement next_version{"config_next_version", R"(
INSERT INTO webhooks.config_versions AS known (account_id, version) VALUES ($1::uuid, 1)
ON CONFLICT (account_id) DO UPDATE SET version = known.version + 1)"};

constexpr postgres::statement next_version_if_any{"config_next_version_if_any", R"(
UPDATE webhooks.config_versions SET version = version + 1 WHERE account_id = $1::uuid)"};

} // namespace

void prepare_config_changes(postgres::pool& db)
{
    db.prepare(next_version);
    db.prepare(next_version_if_any);
}

void begin_config_change(pqxx::work& tx, account_id account)
{
    postgres::exec_prepared0(tx, next_version.name, account.text());
}

bool begin_config_change_if_any(pqxx::work& tx, account_id account)
{
    return postgres::exec_prepared(tx, next_version_if_any.name, account.text()).affected_rows() !=
           0;
}

plans::account_state update_account_state(pqxx::work& tx, const plans::account_state& given)
{
    plans::put(tx, "webhooks", {given});
    return plans::find(tx, "webhooks", given.account).value_or(given);
}

} // namespace tempinbox::webhooks
