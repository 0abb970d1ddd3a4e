#include "common/credentials/read_changes.hpp"

#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

namespace tempinbox::credentials {

using postgres::column;
using postgres::read_column;

namespace {

constexpr int max_named_changes = 1'000;

}

awaitable<change_set> read_changes(postgres::pool& db, const postgres::statement& version,
                                   const postgres::statement& list_changed,
                                   std::optional<std::int64_t> after)
{
    return db.transact(
        [version = version.name, list_changed = list_changed.name, after](pqxx::work& tx) {
            change_set changes;
            read_column(postgres::exec_prepared1(tx, version), "version", changes.version);
            if (!after || *after == changes.version)
                return changes;
            // Read after the version: every change the version counts is visible here, and later
            // ones do no harm.
            for (const auto& row :
                 postgres::exec_prepared(tx, list_changed, *after, max_named_changes + 1))
                changes.accounts.push_back(column<account_id>(row, "account_id"));
            changes.is_complete = changes.accounts.size() <= max_named_changes;
            return changes;
        });
}

} // namespace tempinbox::credentials
