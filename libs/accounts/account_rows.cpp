#include "accounts/account_rows.hpp"

#include "common/postgres/column.hpp"

namespace tempinbox::accounts {

using postgres::read_column;

plans::plan_limits read_limits(const pqxx::row& row, const std::string& prefix)
{
    plans::plan_limits limits;
    const auto read = [&](const char* name, auto& limit) {
        read_column(row, prefix + name, limit);
    };
    read("api_access", limits.api_access);
    read("requests_per_day", limits.requests_per_day);
    read("burst_per_second", limits.burst_per_second);
    read("live_inboxes", limits.live_inboxes);
    read("default_ttl_seconds", limits.default_ttl);
    read("max_ttl_seconds", limits.max_ttl);
    read("max_message_bytes", limits.max_message_bytes);
    read("webhooks", limits.webhooks);
    read("api_keys", limits.api_keys);
    read("routing_rules", limits.routing_rules);
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
    account found;
    read_column(row, "email", found.email);
    read_column(row, "created_micros", found.created_at);
    found.state = read_state(row);
    return found;
}

} // namespace tempinbox::accounts
