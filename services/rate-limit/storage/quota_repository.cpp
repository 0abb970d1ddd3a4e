#include "rate-limit/storage/quota_repository.hpp"

#include "common/core/text.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

#include <stdexcept>

namespace tempinbox::rate_limit {
namespace {

using postgres::column;

constexpr int max_written_off = 500;

constexpr postgres::statement sync_blocks{
    "quota_settle",
    "SELECT outcome, granted, used, held_by_others, daily_limit, limit_version, holders "
    "FROM quota.settle($1::uuid[], $2::date[], $3::uuid[], $4::text[], $5::boolean[], "
    "$6::bigint[], "
    "$7::bigint[], $8::bigint[], $9, make_interval(secs => $10::double precision))"};

constexpr postgres::statement write_off_blocks{"quota_write_off",
                                               "SELECT blocks, units FROM quota.write_off($1)"};

// A block's row is deleted two days after its day: until then a holder that was unreachable may
// still sync it.
constexpr postgres::statement purge_days{"quota_purge_days",
                                         "DELETE FROM quota.days WHERE (account_id, day) IN "
                                         "(SELECT account_id, day FROM quota.days WHERE day < "
                                         "$1::date LIMIT 5000 FOR UPDATE SKIP LOCKED)"};
constexpr postgres::statement purge_blocks{
    "quota_purge_blocks", "DELETE FROM quota.blocks WHERE (account_id, day, block_id) IN "
                          "(SELECT account_id, day, block_id FROM quota.blocks WHERE day < "
                          "$1::date - 1 LIMIT 5000 FOR UPDATE SKIP LOCKED)"};

// A gateway reports usage until 24 h after its day. Its id is kept one day longer, whatever the
// clocks say.
constexpr postgres::statement purge_debts{
    "quota_purge_debts",
    "DELETE FROM quota.debts WHERE debt_id IN "
    "(SELECT debt_id FROM quota.debts WHERE day < $1::date - 2 LIMIT 5000 FOR UPDATE SKIP LOCKED)"};

constexpr postgres::statement store_usage_rows{
    "quota_store_debts", "SELECT quota.store_debts($1::uuid[], $2::uuid[], $3::bigint[], "
                         "$4::bigint[], $5::bigint[], $6::date[])"};

constexpr postgres::statement list_used{
    "quota_list_used", "SELECT day - date '1970-01-01' AS day, used FROM quota.days AS d "
                       "WHERE account_id = $1 AND d.day >= $2::date ORDER BY d.day"};

const char* name_of(block_sync action)
{
    switch (action) {
    case block_sync::grow:
        return "grow";
    case block_sync::report:
        return "report";
    case block_sync::close:
        break;
    }
    return "close";
}

// The outcomes of quota.settle.
block_outcome parse_outcome(std::string_view text)
{
    if (text == "settled")
        return block_outcome::synced;
    if (text == "other_day")
        return block_outcome::other_day;
    if (text == "gone")
        return block_outcome::gone;
    throw std::runtime_error("quota.settle returned the unknown outcome " + quote(text));
}

struct request_columns
{
    std::vector<account_id> accounts;
    std::vector<day> days;
    std::vector<uuid> blocks;
    std::vector<std::string> actions;
    std::vector<bool> known;
    std::vector<std::int64_t> spent, limits, versions;

    explicit request_columns(const std::vector<block_sync_request>& requests)
    {
        for (const auto& each : requests) {
            accounts.push_back(each.account);
            days.push_back(each.on_day);
            blocks.push_back(each.block_id);
            actions.emplace_back(name_of(each.action));
            known.push_back(each.is_known);
            spent.push_back(each.spent);
            limits.push_back(each.limit.units);
            versions.push_back(each.limit.version);
        }
    }
};

block_sync_result read_result(const pqxx::row& row)
{
    block_sync_result result;
    result.outcome = parse_outcome(column<std::string>(row, "outcome"));
    result.granted = column<std::int64_t>(row, "granted");
    result.used = column<std::int64_t>(row, "used");
    result.held_by_others = column<std::int64_t>(row, "held_by_others");
    result.limit = versioned_limit(column<std::int64_t>(row, "daily_limit"),
                                   column<std::int64_t>(row, "limit_version"));
    if (!row["holders"].is_null())
        result.holders = split_list(row["holders"].c_str());
    return result;
}

} // namespace

quota_repository::quota_repository(postgres::pool& db, std::string holder,
                                   std::chrono::milliseconds lease_time)
    : db_(db),
      holder_(std::move(holder)),
      lease_time_(lease_time)
{
    for (const auto& each : {sync_blocks, write_off_blocks, purge_days, purge_blocks, purge_debts,
                             store_usage_rows, list_used})
        db_.prepare(each);
}

awaitable<std::vector<block_sync_result>>
quota_repository::sync(std::vector<block_sync_request> requests)
{
    const auto results = std::make_shared<std::vector<block_sync_result>>();
    co_await db_.run(make_sync_query(std::move(requests), results));
    co_return std::move(*results);
}

std::function<void(pqxx::connection&)>
quota_repository::make_sync_query(std::vector<block_sync_request> requests,
                                  std::shared_ptr<std::vector<block_sync_result>> results) const
{
    return [requests = std::move(requests), results, holder = holder_,
            seconds =
                std::chrono::duration<double>(lease_time_).count()](pqxx::connection& connection) {
        const request_columns columns(requests);
        pqxx::nontransaction statement(connection);
        const auto rows = postgres::exec_prepared(
            statement, sync_blocks.name, postgres::to_array(columns.accounts),
            postgres::to_array(columns.days), postgres::to_array(columns.blocks),
            postgres::to_array(columns.actions), postgres::to_array(columns.known),
            postgres::to_array(columns.spent), postgres::to_array(columns.limits),
            postgres::to_array(columns.versions), holder, seconds);
        results->clear();
        for (const auto& row : rows)
            results->push_back(read_result(row));
    };
}

awaitable<void> quota_repository::store_usage(std::vector<unreported_usage> usages)
{
    return db_.transact([usages = std::move(usages)](pqxx::work& tx) {
        std::vector<uuid> ids;
        std::vector<account_id> accounts;
        std::vector<day> days;
        std::vector<std::int64_t> units, limits, versions;
        for (const auto& each : usages) {
            ids.push_back(each.id);
            accounts.push_back(each.account);
            days.push_back(each.on_day);
            units.push_back(each.units);
            limits.push_back(each.limit.units);
            versions.push_back(each.limit.version);
        }
        postgres::exec_prepared(tx, store_usage_rows.name, postgres::to_array(ids),
                                postgres::to_array(accounts), postgres::to_array(units),
                                postgres::to_array(limits), postgres::to_array(versions),
                                postgres::to_array(days));
    });
}

awaitable<written_off> quota_repository::write_off()
{
    return db_.transact([](pqxx::work& tx) {
        const auto row = postgres::exec_prepared1(tx, write_off_blocks.name, max_written_off);
        return written_off{column<std::int64_t>(row, "blocks"), column<std::int64_t>(row, "units")};
    });
}

awaitable<std::size_t> quota_repository::purge_before(day oldest, day today)
{
    return db_.transact([oldest, today](pqxx::work& tx) {
        const auto days =
            postgres::exec_prepared(tx, purge_days.name, date_text(oldest)).affected_rows();
        const auto blocks =
            postgres::exec_prepared(tx, purge_blocks.name, date_text(today)).affected_rows();
        const auto usages =
            postgres::exec_prepared(tx, purge_debts.name, date_text(today)).affected_rows();
        return static_cast<std::size_t>(days + blocks + usages);
    });
}

awaitable<std::vector<day_use>> quota_repository::list_days(account_id account, day first)
{
    return db_.transact([account, first](pqxx::work& tx) {
        std::vector<day_use> uses;
        for (const auto& row :
             postgres::exec_prepared(tx, list_used.name, account.text(), date_text(first)))
            uses.emplace_back(column<day>(row, "day"), column<std::int64_t>(row, "used"));
        return uses;
    });
}

} // namespace tempinbox::rate_limit
