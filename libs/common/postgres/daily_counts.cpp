#include "common/postgres/daily_counts.hpp"

namespace tempinbox::postgres {

awaitable<std::vector<daily_count>> list_daily_counts(pool& db, const statement& counting,
                                                      account_id account, int days)
{
    return db.transact([name = counting.name, account, days](pqxx::work& tx) {
        std::vector<daily_count> counts;
        for (const auto& row : tx.exec_prepared(name, account.text(), days))
            counts.emplace_back(std::chrono::sys_days(std::chrono::days(row[0].as<int>())),
                                row[1].as<std::int64_t>());
        return counts;
    });
}

} // namespace tempinbox::postgres
