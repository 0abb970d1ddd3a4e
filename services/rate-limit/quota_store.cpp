#include "rate-limit/quota_store.hpp"

#include "common/postgres/parameters.hpp"

#include <cstdio>
#include <map>

namespace tempinbox::rate_limit {
namespace {

// Makes the rows that are missing, takes over newer limits, locks in account order and reads; nothing where PostgreSQL is on
// another day.
constexpr postgres::statement lock_days{
    "quota_lock_days",
    "WITH asked AS (SELECT * FROM unnest($1::uuid[], $3::bigint[], $4::bigint[]) AS a (account_id, daily_limit, limit_version)), "
    "kept AS (INSERT INTO quota.days AS d (account_id, day, daily_limit, limit_version) "
    "SELECT account_id, $2::date, daily_limit, limit_version FROM asked "
    "WHERE (now() AT TIME ZONE 'UTC')::date = $2::date ORDER BY account_id "
    "ON CONFLICT (account_id, day) DO UPDATE SET "
    "daily_limit = CASE WHEN excluded.limit_version > d.limit_version THEN excluded.daily_limit ELSE d.daily_limit END, "
    "limit_version = greatest(d.limit_version, excluded.limit_version) "
    "RETURNING account_id, used, daily_limit) "
    "SELECT account_id, used, daily_limit FROM kept"};

constexpr postgres::statement write_days{
    "quota_write_days", "UPDATE quota.days d SET used = u.used FROM unnest($1::uuid[], $3::bigint[]) AS u (account_id, used) "
                        "WHERE d.account_id = u.account_id AND d.day = $2::date"};

constexpr postgres::statement forget_days{
    "quota_forget_days", "DELETE FROM quota.days WHERE (account_id, day) IN "
                         "(SELECT account_id, day FROM quota.days WHERE day < $1::date LIMIT 5000 FOR UPDATE SKIP LOCKED)"};

std::string date_text(day today)
{
    const std::chrono::year_month_day date{today};
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()));
    return buffer;
}

// One row an account, with the newest limit any of its asks knows.
struct batch_columns
{
    std::vector<std::string> accounts;
    std::vector<std::int64_t> limits, versions;
};

batch_columns columns_of(const std::vector<ask>& asks)
{
    std::map<account_id, std::pair<std::int64_t, std::int64_t>> newest; // version, limit; in account order
    for (const auto& each : asks) {
        auto& [version, limit] = newest.try_emplace(each.account, each.limit_version, each.limit).first->second;
        if (each.limit_version > version) {
            version = each.limit_version;
            limit = each.limit;
        }
    }
    batch_columns columns;
    for (const auto& [account, known] : newest) {
        columns.accounts.push_back(account.text());
        columns.versions.push_back(known.first);
        columns.limits.push_back(known.second);
    }
    return columns;
}

std::map<account_id, usage> lock(pqxx::work& tx, const std::string& date, const batch_columns& columns)
{
    std::map<account_id, usage> usages;
    for (const auto& row : tx.exec_prepared(lock_days.name, postgres::text_array(columns.accounts), date,
                                            postgres::integer_array(columns.limits), postgres::integer_array(columns.versions)))
        usages.emplace(account_id::parse(row[0].c_str()).value(), usage{row[1].as<std::int64_t>(), row[2].as<std::int64_t>()});
    return usages;
}

void write(pqxx::work& tx, const std::string& date, const std::map<account_id, usage>& usages)
{
    std::vector<std::string> accounts;
    std::vector<std::int64_t> used;
    for (const auto& [account, known] : usages) {
        accounts.push_back(account.text());
        used.push_back(known.used);
    }
    tx.exec_prepared(write_days.name, postgres::text_array(accounts), date, postgres::integer_array(used));
}

batch_outcome take_batch(pqxx::work& tx, day today, const std::vector<ask>& asks)
{
    batch_outcome outcome;
    const auto date = date_text(today);
    auto usages = lock(tx, date, columns_of(asks));
    if (usages.empty() && !asks.empty()) {
        outcome.day_differs = true;
        return outcome;
    }
    for (const auto& each : asks) {
        auto& known = usages.at(each.account);
        const auto made = decide(known, each.units, each.let_through);
        known.used = made.used;
        outcome.decisions.push_back(made);
        outcome.limits.push_back(known.limit);
    }
    write(tx, date, usages);
    return outcome;
}

} // namespace

quota_store::quota_store(postgres::pool& db) : db_(db)
{
    db_.prepare(lock_days);
    db_.prepare(write_days);
    db_.prepare(forget_days);
}

awaitable<batch_outcome> quota_store::take(day today, std::vector<ask> asks)
{
    return db_.transact([today, asks = std::move(asks)](pqxx::work& tx) { return take_batch(tx, today, asks); });
}

awaitable<std::size_t> quota_store::forget_before(day oldest)
{
    return db_.transact([oldest](pqxx::work& tx) {
        return static_cast<std::size_t>(tx.exec_prepared(forget_days.name, date_text(oldest)).affected_rows());
    });
}

} // namespace tempinbox::rate_limit
