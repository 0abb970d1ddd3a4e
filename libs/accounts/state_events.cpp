#include "accounts/state_events.hpp"

#include "common/events/events.hpp"
#include "common/outbox/swept_rows.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/trace/current.hpp"

namespace tempinbox::accounts {
namespace {

constexpr const char* schema = "accounts";

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
    if (publisher.publish)
        outbox::insert(tx, schema, publisher.owner, rows);
    else
        outbox::insert_for_sweep(tx, schema, publisher.owner, rows);
    return rows;
}

} // namespace tempinbox::accounts
