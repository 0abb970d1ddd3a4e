#include "accounts/state_events.hpp"

#include "accounts/account_rows.hpp"
#include "common/events/events.hpp"
#include "common/outbox/swept_rows.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/trace/current.hpp"

namespace tempinbox::accounts {
namespace {

constexpr const char* schema = "accounts";

// Of several states of an account the oldest counts: any of them may stand behind the newest.
constexpr const char* remove_rows = R"(
WITH removed AS (
    DELETE FROM accounts.outbox WHERE event_id = ANY ($1::uuid[]) AND owner = $2
    RETURNING topic, key, sequence),
published AS (
    SELECT key::uuid AS account_id, min(sequence) AS published_version
    FROM removed WHERE topic = 'account.state' GROUP BY key)
SELECT s.* FROM published AS p JOIN accounts.states AS s USING (account_id)
WHERE s.version > p.published_version)";

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

outbox::row_remover remover_of_published(std::string owner)
{
    return [owner = std::move(owner)](pqxx::work& tx, const std::vector<event_id>& published) {
        const auto cause = trace::current_or_new();
        std::vector<outbox::row> again;
        for (const auto& row : tx.exec_params(remove_rows, postgres::to_array(published), owner))
            again.push_back(events::make_row(read_state(row), event_id::make(), cause));
        return again;
    };
}

} // namespace tempinbox::accounts
