#include "accounts/plan_repository.hpp"

#include "accounts/account_rows.hpp"
#include "common/core/text.hpp"
#include "common/postgres/column.hpp"

namespace tempinbox::accounts {
namespace {

// Names its columns: a running gateway keeps this statement prepared when a later migration adds
// one.
constexpr postgres::statement list_plans{"plans_list",
                                         "SELECT plan, trim_scale(price_amount)::text AS price, "
                                         "price_period, api_access, requests_per_day,"
                                         " burst_per_second, live_inboxes, default_ttl_seconds, "
                                         "max_ttl_seconds, max_message_bytes, webhooks, api_keys,"
                                         " routing_rules FROM accounts.plans ORDER BY position"};
constexpr postgres::statement update_plan{
    "plans_update",
    "UPDATE accounts.plans SET api_access = coalesce($2, api_access), requests_per_day = "
    "coalesce($3, requests_per_day),"
    " burst_per_second = coalesce($4, burst_per_second), live_inboxes = coalesce($5, live_inboxes),"
    " default_ttl_seconds = coalesce($6, default_ttl_seconds), max_ttl_seconds = coalesce($7, "
    "max_ttl_seconds),"
    " max_message_bytes = coalesce($8, max_message_bytes), webhooks = coalesce($9, webhooks), "
    "api_keys = coalesce($10, api_keys),"
    " routing_rules = coalesce($11, routing_rules), price_amount = coalesce($12::numeric, "
    "price_amount),"
    " price_period = coalesce($13, price_period) WHERE plan = $1 RETURNING *, "
    "trim_scale(price_amount)::text AS price"};
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
                update_plan.name, name, requested.api_access, requested.requests_per_day,
                requested.burst_per_second, requested.live_inboxes, requested.default_ttl_seconds,
                requested.max_ttl_seconds, requested.max_message_bytes, requested.webhooks,
                requested.api_keys, requested.routing_rules, requested.price_amount,
                requested.price_period);
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
