#include "accounts/plan_repository.hpp"

#include "accounts/account_rows.hpp"
#include "common/core/text.hpp"
#include "common/postgres/column.hpp"

namespace tempinbox::accounts {
namespace {

// `, name` for each limit. A running gateway keeps its statements prepared when a later migration
// adds a column, so they name theirs.
std::string limit_columns()
{
    std::string list;
    for (const auto& limit : plans::all_limits())
        list += ", " + std::string(limit.name);
    return list;
}

constexpr int first_limit = 4; // the parameter

// `name = coalesce($4, name), ` for each limit.
std::string limit_changes()
{
    std::string list;
    int parameter = first_limit;
    for (const auto& limit : plans::all_limits()) {
        const std::string name(limit.name);
        list += name + " = coalesce($" + std::to_string(parameter++) +
                (limit.is_truth ? "::integer::boolean, " : ", ") + name + "), ";
    }
    return list;
}

// In the order of the parameters; null for what does not change.
std::vector<std::optional<std::int64_t>> limit_parameters(const plan_change& change)
{
    std::vector<std::optional<std::int64_t>> numbers;
    for (const auto& limit : plans::all_limits()) {
        const auto found = change.limits.find(limit.name);
        numbers.push_back(found == change.limits.end() ? std::nullopt
                                                       : std::optional(found->second));
    }
    return numbers;
}

const std::string shown_columns =
    "plan, trim_scale(price_amount)::text AS price, price_period" + limit_columns();
const std::string list_plans_sql =
    "SELECT " + shown_columns + " FROM accounts.plans ORDER BY position";
const std::string update_plan_sql = "UPDATE accounts.plans SET " + limit_changes() +
                                    "price_amount = coalesce($2::numeric, price_amount), "
                                    "price_period = coalesce($3, price_period) "
                                    "WHERE plan = $1 RETURNING " +
                                    shown_columns;
const postgres::statement list_plans{"plans_list", list_plans_sql.c_str()};
const postgres::statement update_plan{"plans_update", update_plan_sql.c_str()};
constexpr postgres::statement stamp_accounts{
    "plans_stamp_accounts", "UPDATE accounts.accounts SET version = $2 WHERE deleted_at IS NULL"
                            " AND (plan = $1 OR ($1 = 'free' AND plan_ends_at IS NOT NULL))"};
constexpr postgres::statement list_stamped{
    "plans_list_stamped", "SELECT * FROM accounts.states WHERE version = $1 AND NOT is_deleted"};

plan read_plan(const pqxx::row& row)
{
    plan found;
    postgres::read_column(row, "plan", found.name);
    postgres::read_column(row, "price", found.cost.amount);
    postgres::read_column(row, "price_period", found.cost.period);
    found.limits = read_limits(row);
    return found;
}

// Writes the outbox rows in batches, so that a plan with very many accounts does not need one huge
// statement.
std::vector<outbox::row> write_all_state_events(pqxx::work& tx, const state_publisher& publisher,
                                                std::int64_t version)
{
    constexpr std::size_t piece_size = 1'000;
    std::vector<outbox::row> written;
    std::vector<plans::account_state> piece;
    const auto flush = [&] {
        auto rows = write_state_events(tx, publisher, piece);
        written.insert(written.end(), std::make_move_iterator(rows.begin()),
                       std::make_move_iterator(rows.end()));
        piece.clear();
    };
    for (const auto& row : tx.exec_prepared(list_stamped.name, version)) {
        piece.push_back(read_state(row));
        if (piece.size() == piece_size)
            flush();
    }
    if (!piece.empty())
        flush();
    return written;
}

} // namespace

plan_repository::plan_repository(postgres::pool& db, state_publisher publisher)
    : db_(db),
      publisher_(std::move(publisher))
{
    for (const auto& statement : {list_plans, update_plan, stamp_accounts, list_stamped})
        db_.prepare(statement);
}

awaitable<std::vector<plan>> plan_repository::list()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<plan> found;
        for (const auto& row : tx.exec_prepared(list_plans.name))
            found.push_back(read_plan(row));
        return found;
    });
}

awaitable<result<plan>> plan_repository::set(std::string name, plan_change requested)
{
    auto transaction =
        db_.transact([this, name, requested](pqxx::work& tx) -> result<change<plan>> {
            const auto version = next_version(tx);
            const auto rows = tx.exec_prepared(
                update_plan.name, name, requested.price_amount, requested.price_period,
                pqxx::prepare::make_dynamic_params(limit_parameters(requested)));
            if (rows.empty())
                return failure{errc::not_found, "Plan " + quote(name) + " does not exist"};
            plan changed = read_plan(rows[0]);
            if (changed.limits.default_ttl > changed.limits.max_ttl)
                return failure{errc::invalid_argument,
                               "default-ttl-seconds must not be above max-ttl-seconds, which is " +
                                   std::to_string(changed.limits.max_ttl.count())};
            tx.exec_prepared0(stamp_accounts.name, name, version);
            auto written = write_all_state_events(tx, publisher_, version);
            return change<plan>(std::move(changed), std::move(written));
        });
    return publish_after(std::move(transaction), publisher_);
}

} // namespace tempinbox::accounts
