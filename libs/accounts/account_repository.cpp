#include "accounts/account_repository.hpp"

#include "accounts/account_rows.hpp"
#include "common/core/text.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

#include <algorithm>

namespace tempinbox::accounts {
namespace {

constexpr std::chrono::hours pass_length{7 * 24};

constexpr postgres::statement find_account{
    "accounts_find", "SELECT * FROM accounts.states WHERE account_id = $1 AND NOT is_deleted"};
constexpr postgres::statement find_account_by_email{
    "accounts_find_by_email",
    "SELECT * FROM accounts.states WHERE lower(email) = lower($1) AND NOT is_deleted"};
constexpr postgres::statement list_accounts{
    "accounts_list", "SELECT * FROM accounts.states WHERE NOT is_deleted AND account_id < $2"
                     " ORDER BY account_id DESC LIMIT $1"};
constexpr postgres::statement insert_account{
    "accounts_insert",
    "INSERT INTO accounts.accounts (account_id, email, plan, plan_ends_at, version)"
    " VALUES ($1, $2, $3, timestamptz 'epoch' + $4::bigint * interval '1 microsecond', $5)"
    " ON CONFLICT (lower(email)) WHERE deleted_at IS NULL DO NOTHING"};
constexpr postgres::statement update_plan{
    "accounts_update_plan",
    "UPDATE accounts.accounts SET plan = $2,"
    " plan_ends_at = timestamptz 'epoch' + $3::bigint * interval '1 microsecond', version = $4"
    " WHERE account_id = $1 AND deleted_at IS NULL"};
constexpr postgres::statement delete_account{"accounts_delete",
                                             "UPDATE accounts.accounts SET deleted_at = now(), "
                                             "version = $2, email = 'deleted ' || account_id"
                                             " WHERE account_id = $1 AND deleted_at IS NULL"};
constexpr postgres::statement revoke_all_keys{
    "accounts_revoke_all_keys", "UPDATE accounts.api_keys SET revoked_at = now(), version = $2 "
                                "WHERE account_id = $1 AND revoked_at IS NULL"};
constexpr postgres::statement insert_user{
    "accounts_insert_user",
    "INSERT INTO accounts.users (account_id, password_hash) VALUES ($1, $2)"};
constexpr postgres::statement delete_user{"accounts_delete_user",
                                          "DELETE FROM accounts.users WHERE account_id = $1"};
constexpr postgres::statement delete_sessions{
    "accounts_delete_sessions", "DELETE FROM accounts.sessions WHERE account_id = $1"};
constexpr postgres::statement delete_resets{
    "accounts_delete_resets", "DELETE FROM accounts.password_resets WHERE account_id = $1"};
// By then every gateway has long read of the deletion.
constexpr postgres::statement purge_keys{
    "accounts_purge_keys_of_deleted",
    "DELETE FROM accounts.api_keys WHERE (account_id, key_id) IN (SELECT "
    "k.account_id, k.key_id FROM accounts.accounts a"
    " JOIN accounts.api_keys k ON k.account_id = a.account_id WHERE "
    "a.deleted_at < now() - interval '1 day'"
    " LIMIT $1 FOR UPDATE OF k SKIP LOCKED)"};
constexpr postgres::statement purge_responses{
    "accounts_purge_responses_of_deleted",
    "DELETE FROM accounts.idempotency_keys WHERE (account_id, operation_sha256, key) IN (SELECT "
    "i.account_id, i.operation_sha256,"
    " i.key FROM accounts.accounts a JOIN accounts.idempotency_keys i ON i.account_id = "
    "a.account_id"
    " WHERE a.deleted_at < now() - interval '1 day' LIMIT $1 FOR UPDATE OF i SKIP LOCKED)"};
// A reset link created while the account was being deleted expires by itself within an hour.
constexpr postgres::statement purge_accounts{
    "accounts_purge_deleted",
    "DELETE FROM accounts.accounts WHERE account_id IN (SELECT a.account_id FROM accounts.accounts "
    "a"
    " WHERE a.deleted_at < now() - interval '1 day'"
    " AND NOT EXISTS (SELECT FROM accounts.api_keys k WHERE k.account_id = a.account_id)"
    " AND NOT EXISTS (SELECT FROM accounts.idempotency_keys i WHERE i.account_id = a.account_id)"
    " AND NOT EXISTS (SELECT FROM accounts.password_resets r WHERE r.account_id = a.account_id)"
    " ORDER BY a.deleted_at LIMIT $1 FOR UPDATE SKIP LOCKED)"
    " RETURNING account_id, version"};
constexpr postgres::statement list_plan_names{
    "accounts_plan_names",
    "SELECT string_agg(plan, ', ' ORDER BY position) AS names, bool_or(plan = $1) AS is_known"
    " FROM accounts.plans"};

result<void> check_plan(pqxx::work& tx, const std::string& plan)
{
    const auto row = postgres::exec_prepared1(tx, list_plan_names.name, plan);
    if (postgres::column<bool>(row, "is_known"))
        return {};
    return failure{errc::invalid_argument, "plan must be one of " +
                                               postgres::column<std::string>(row, "names") +
                                               ", not " + quote(plan)};
}

std::optional<std::int64_t> end_of(const std::string& plan, std::optional<time_point> requested)
{
    if (requested)
        return to_unix_micros(*requested);
    if (plan == "pass7")
        return to_unix_micros(system_clock_source{}.now() + pass_length);
    return std::nullopt;
}

// The account as it now is in the transaction, with its account.state event written.
change<account> with_state_event(pqxx::work& tx, const state_publisher& publisher,
                                 const pqxx::row& row)
{
    account changed = read_account(row);
    auto rows = write_state_events(tx, publisher, {changed.state});
    return change<account>(std::move(changed), std::move(rows));
}

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
        list += name;
        list += " = coalesce($";
        list += std::to_string(parameter++);
        list += limit.is_truth ? "::integer::boolean, " : ", ";
        list += name;
        list += "), ";
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
const std::string read_plans_sql =
    "SELECT " + shown_columns + " FROM accounts.plans ORDER BY position";
const std::string update_terms_sql = "UPDATE accounts.plans SET " + limit_changes() +
                                     "price_amount = coalesce($2::numeric, price_amount), "
                                     "price_period = coalesce($3, price_period) "
                                     "WHERE plan = $1 RETURNING " +
                                     shown_columns;
const postgres::statement read_plans{"plans_list", read_plans_sql.c_str()};
const postgres::statement update_terms{"plans_update", update_terms_sql.c_str()};
constexpr postgres::statement stamp_accounts{
    "plans_stamp_accounts", "UPDATE accounts.accounts SET version = $2 WHERE deleted_at IS NULL"
                            " AND (plan = $1 OR ($1 = 'free' AND plan_ends_at IS NOT NULL))"};
constexpr postgres::statement list_stamped{
    "plans_list_stamped", "SELECT * FROM accounts.states WHERE version = $1 AND NOT is_deleted"};

plan read_plan(const pqxx::row& row)
{
    plan read;
    postgres::read_column(row, "plan", read.name);
    postgres::read_column(row, "price", read.cost.amount);
    postgres::read_column(row, "price_period", read.cost.period);
    read.limits = read_limits(row);
    return read;
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
    for (const auto& row : postgres::exec_prepared(tx, list_stamped.name, version)) {
        piece.push_back(read_state(row));
        if (piece.size() == piece_size)
            flush();
    }
    if (!piece.empty())
        flush();
    return written;
}

} // namespace

account_repository::account_repository(postgres::pool& db, state_publisher publisher)
    : db_(db),
      publisher_(std::move(publisher))
{
    for (const auto& statement :
         {find_account, find_account_by_email, list_accounts, insert_account, update_plan,
          delete_account, revoke_all_keys, insert_user, delete_user, delete_sessions, delete_resets,
          purge_keys, purge_responses, purge_accounts, list_plan_names, read_plans, update_terms,
          stamp_accounts, list_stamped})
        db_.prepare(statement);
}

awaitable<result<account>> account_repository::create(account_id id, std::string email,
                                                      std::string plan, std::string password_hash)
{
    auto transaction = db_.transact([this, id, email, plan,
                                     password_hash](pqxx::work& tx) -> result<change<account>> {
        if (const auto sane = check_email_address(email); !sane)
            return sane.error();
        const auto version = next_version(tx);
        if (const auto known = check_plan(tx, plan); !known)
            return known.error();
        const auto ends = end_of(plan, std::nullopt);
        const auto inserted =
            postgres::exec_prepared(tx, insert_account.name, id.text(), email, plan, ends, version);
        if (inserted.affected_rows() == 0)
            return failure{errc::conflict,
                           "An account with the email address " + quote(email) + " exists",
                           error_reason::email_taken};
        if (!password_hash.empty())
            postgres::exec_prepared0(tx, insert_user.name, id.text(), password_hash);
        return with_state_event(tx, publisher_,
                                postgres::exec_prepared1(tx, find_account.name, id.text()));
    });
    return publish_after(std::move(transaction), publisher_);
}

awaitable<result<account>> account_repository::find(account_id id)
{
    return db_.transact([id](pqxx::work& tx) -> result<account> {
        const auto rows = postgres::exec_prepared(tx, find_account.name, id.text());
        if (rows.empty())
            return no_such_account(id);
        return read_account(rows[0]);
    });
}

awaitable<result<account>> account_repository::find_by_email(std::string email)
{
    return db_.transact([email](pqxx::work& tx) -> result<account> {
        const auto rows = postgres::exec_prepared(tx, find_account_by_email.name, email);
        if (rows.empty())
            return failure{errc::not_found, "No account has the email address " + quote(email)};
        return read_account(rows[0]);
    });
}

awaitable<std::vector<account>> account_repository::list(std::size_t limit,
                                                         std::optional<account_id> before)
{
    return db_.transact([limit, before](pqxx::work& tx) {
        std::vector<account> page;
        for (const auto& row : postgres::exec_prepared(tx, list_accounts.name, limit,
                                                       before.value_or(account_id::max()).text()))
            page.push_back(read_account(row));
        return page;
    });
}

awaitable<result<account>> account_repository::set_plan(account_id id, std::string plan,
                                                        std::optional<time_point> ends_at)
{
    auto transaction =
        db_.transact([this, id, plan, ends_at](pqxx::work& tx) -> result<change<account>> {
            const auto version = next_version(tx);
            if (const auto known = check_plan(tx, plan); !known)
                return known.error();
            const auto ends = end_of(plan, ends_at);
            if (postgres::exec_prepared(tx, update_plan.name, id.text(), plan, ends, version)
                    .affected_rows() == 0)
                return no_such_account(id);
            return with_state_event(tx, publisher_,
                                    postgres::exec_prepared1(tx, find_account.name, id.text()));
        });
    return publish_after(std::move(transaction), publisher_);
}

awaitable<result<account>> account_repository::remove(account_id id)
{
    auto transaction = db_.transact([this, id](pqxx::work& tx) -> result<change<account>> {
        const auto version = next_version(tx);
        const auto rows = postgres::exec_prepared(tx, find_account.name, id.text());
        if (rows.empty())
            return no_such_account(id);
        postgres::exec_prepared0(tx, delete_account.name, id.text(), version);
        postgres::exec_prepared0(tx, revoke_all_keys.name, id.text(), version);
        postgres::exec_prepared0(tx, delete_user.name, id.text());
        postgres::exec_prepared0(tx, delete_sessions.name, id.text());
        postgres::exec_prepared0(tx, delete_resets.name, id.text());
        account removed = read_account(rows[0]);
        removed.state.is_deleted = true;
        removed.state.version = version;
        auto written = write_state_events(tx, publisher_, {removed.state});
        return change<account>(std::move(removed), std::move(written));
    });
    return publish_after(std::move(transaction), publisher_);
}

// A state published after the tombstone would stay the last record of its compacted topic, and
// whoever reads the topic from the start would take the account for a live one. So the tombstone is
// published again with the account's last row.
awaitable<int> account_repository::purge()
{
    auto transaction = db_.transact([this](pqxx::work& tx) -> result<change<int>> {
        int max_rows = 0;
        for (const auto& children_first : {purge_keys, purge_responses})
            max_rows = std::max(
                max_rows,
                static_cast<int>(
                    postgres::exec_prepared(tx, children_first.name, batch_size).affected_rows()));
        std::vector<plans::account_state> deleted;
        for (const auto& row : postgres::exec_prepared(tx, purge_accounts.name, batch_size)) {
            auto& account = deleted.emplace_back();
            postgres::read_column(row, "account_id", account.account);
            postgres::read_column(row, "version", account.version);
            account.is_deleted = true;
        }
        max_rows = std::max(max_rows, static_cast<int>(deleted.size()));
        return change<int>(max_rows, write_state_events(tx, publisher_, deleted));
    });
    const auto max_rows = co_await publish_after(std::move(transaction), publisher_);
    co_return max_rows ? *max_rows : 0;
}

awaitable<std::vector<plan>> account_repository::list_plans()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<plan> plans;
        for (const auto& row : postgres::exec_prepared(tx, read_plans.name))
            plans.push_back(read_plan(row));
        return plans;
    });
}

awaitable<result<plan>> account_repository::change_plan(std::string name, plan_change requested)
{
    auto transaction =
        db_.transact([this, name, requested](pqxx::work& tx) -> result<change<plan>> {
            const auto version = next_version(tx);
            const auto rows = postgres::exec_prepared(
                tx, update_terms.name, name, requested.price_amount, requested.price_period,
                pqxx::prepare::make_dynamic_params(limit_parameters(requested)));
            if (rows.empty())
                return failure{errc::not_found, "Plan " + quote(name) + " does not exist"};
            plan changed = read_plan(rows[0]);
            if (changed.limits.default_ttl > changed.limits.max_ttl)
                return failure{errc::invalid_argument,
                               "default-ttl-seconds must not be above max-ttl-seconds, which is " +
                                   std::to_string(changed.limits.max_ttl.count())};
            postgres::exec_prepared0(tx, stamp_accounts.name, name, version);
            auto written = write_all_state_events(tx, publisher_, version);
            return change<plan>(std::move(changed), std::move(written));
        });
    return publish_after(std::move(transaction), publisher_);
}

} // namespace tempinbox::accounts
