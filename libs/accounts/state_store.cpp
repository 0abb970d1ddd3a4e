#include "accounts/state_store.hpp"

#include "common/events/events.hpp"

namespace tempinbox::accounts {
namespace {

constexpr const char* schema = "accounts";

std::string ids_of(const std::vector<outbox::row>& rows)
{
    std::string ids = "{";
    for (const auto& row : rows)
        ids += (ids.size() > 1 ? "," : "") + row.id.text();
    return ids + "}";
}

} // namespace

plans::plan_limits read_limits(const pqxx::row& row, const std::string& prefix)
{
    const auto field = [&](const char* name) { return row[prefix + name]; };
    plans::plan_limits limits;
    limits.api_access = field("api_access").as<bool>();
    limits.requests_per_day = field("requests_per_day").as<std::int64_t>();
    limits.burst_per_second = field("burst_per_second").as<int>();
    limits.live_inboxes = field("live_inboxes").as<int>();
    limits.default_ttl = std::chrono::seconds{field("default_ttl_seconds").as<std::int64_t>()};
    limits.max_ttl = std::chrono::seconds{field("max_ttl_seconds").as<std::int64_t>()};
    limits.max_message_bytes = field("max_message_bytes").as<std::int64_t>();
    limits.webhooks = field("webhooks").as<int>();
    limits.api_keys = field("api_keys").as<int>();
    limits.routing_rules = field("routing_rules").as<int>();
    return limits;
}

std::int64_t next_version(pqxx::work& tx)
{
    return tx.exec1("UPDATE accounts.changes SET version = version + 1 RETURNING version")[0]
        .as<std::int64_t>();
}

plans::account_state read_state(const pqxx::row& row)
{
    plans::account_state state;
    state.account = account_id::parse(row["account_id"].c_str()).value();
    state.plan = row["plan"].as<std::string>();
    if (!row["plan_ends_micros"].is_null())
        state.plan_ends_at = from_unix_micros(row["plan_ends_micros"].as<std::int64_t>());
    state.limits = read_limits(row);
    state.limits_after_end = read_limits(row, "free_");
    state.version = row["version"].as<std::int64_t>();
    state.is_deleted = row["is_deleted"].as<bool>();
    return state;
}

std::vector<outbox::row> write_state_events(pqxx::work& tx, const state_publisher& publisher,
                                            const std::vector<plans::account_state>& changed)
{
    const auto parent = trace::traceparent::make();
    std::vector<outbox::row> rows;
    rows.reserve(changed.size());
    for (const auto& state : changed)
        rows.push_back(events::make_row(state, event_id::make(), parent));
    outbox::insert(tx, schema, publisher.owner, rows);
    if (!publisher.publish)
        tx.exec_params(
            "UPDATE accounts.outbox SET lease_until = now() WHERE event_id = ANY ($1::uuid[])",
            ids_of(rows));
    return rows;
}

} // namespace tempinbox::accounts
