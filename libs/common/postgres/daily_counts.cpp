#include "common/postgres/daily_counts.hpp"

#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

namespace tempinbox::postgres {

awaitable<std::vector<daily_count>> list_daily_counts(pool& db, const statement& counting,
                                                      account_id account, int days)
{
    return db.transact([name = counting.name, account, days](pqxx::work& tx) {
        std::vector<daily_count> counts;
        for (const auto& row : exec_prepared(tx, name, account.text(), days))
            counts.emplace_back(column<std::chrono::sys_days>(row, "day"),
                                column<std::int64_t>(row, "count"));
        return counts;
    });
}

} // namespace tempinbox::postgres
