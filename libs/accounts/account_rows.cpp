#include "accounts/account_rows.hpp"

#include "common/postgres/column.hpp"

namespace tempinbox::accounts {

using postgres::read_column;

plans::plan_limits read_limits(const pqxx::row& row, const std::string& prefix)
{
    plans::plan_limits limits;
    for (const auto& limit : plans::all_limits()) {
        const auto name = prefix + std::string(limit.name);
        limit.set(limits, limit.is_truth ? std::int64_t{postgres::column<bool>(row, name.c_str())}
                                         : postgres::column<std::int64_t>(row, name.c_str()));
    }
    return limits;
}

plans::account_state read_state(const pqxx::row& row)
{
    plans::account_state state;
    read_column(row, "account_id", state.account);
    read_column(row, "plan", state.plan);
    read_column(row, "plan_ends_micros", state.plan_ends_at);
    state.limits = read_limits(row);
    state.limits_after_end = read_limits(row, "free_");
    read_column(row, "version", state.version);
    read_column(row, "is_deleted", state.is_deleted);
    return state;
}

account read_account(const pqxx::row& row)
{
    account read;
    read_column(row, "email", read.email);
    read_column(row, "created_micros", read.created_at);
    read.state = read_state(row);
    return read;
}

} // namespace tempinbox::accounts
