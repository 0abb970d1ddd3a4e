#include "accounts/state_events.hpp"

#include "common/events/events.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/trace/current.hpp"

namespace tempinbox::accounts {
namespace {

constexpr const char* schema = "accounts";

std::vector<event_id> ids_of(const std::vector<outbox::row>& rows)
{
    std::vector<event_id> ids;
    ids.reserve(rows.size());
    for (const auto& row : rows)
        ids.push_back(row.id);
    return ids;
}

} // namespace

std::int64_t next_version(pqxx::work& tx)
{
    return postgres::column<std::int64_t>(
        tx.exec1("UPDATE accounts.changes SET version = version + 1 RETURNING version"), "version");
}

std::vector<outbox::row> write_state_events(pqxx::work& tx, const state_publisher& publisher,
                                            const std::vector<plans::account_state>& changed)
{
    const auto cause = trace::current_or_new();
    std::vector<outbox::row> rows;
    rows.reserve(changed.size());
    for (const auto& state : changed)
        rows.push_back(events::make_row(state, event_id::make(), cause));
    outbox::insert(tx, schema, publisher.owner, rows);
    if (!publisher.publish)
        tx.exec_params(
            "UPDATE accounts.outbox SET lease_until = now() WHERE event_id = ANY ($1::uuid[])",
            postgres::to_array(ids_of(rows)));
    return rows;
}

} // namespace tempinbox::accounts
