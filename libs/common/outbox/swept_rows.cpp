#include "common/outbox/swept_rows.hpp"

#include "common/postgres/binary_array.hpp"

namespace tempinbox::outbox {
namespace {

constexpr const char* end_leases = R"(.outbox AS o
SET lease_until = now() - (cardinality($1::uuid[]) - swept.ordinal) * interval '1 microsecond'
FROM unnest($1::uuid[]) WITH ORDINALITY AS swept(id, ordinal) WHERE o.event_id = swept.id)";

} // namespace

void insert_for_sweep(pqxx::work& tx, const std::string& schema, const std::string& owner,
                      const std::vector<row>& rows)
{
    if (rows.empty())
        return;
    insert(tx, schema, owner, rows);
    std::vector<event_id> ids;
    ids.reserve(rows.size());
    for (const auto& swept_row : rows)
        ids.push_back(swept_row.id);
    tx.exec_params0("UPDATE " + schema + end_leases, postgres::to_array(ids));
}

} // namespace tempinbox::outbox
