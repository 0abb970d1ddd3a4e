#include "common/plans/account_state.hpp"

#include "common/rpc/timestamp.hpp"

#include <google/protobuf/timestamp.pb.h>

namespace tempinbox::plans {
namespace {

accounts::v1::PlanLimits to_proto(const plan_limits& limits)
{
    accounts::v1::PlanLimits message;
    message.set_api_access(limits.api_access);
    message.set_requests_per_day(limits.requests_per_day);
    message.set_burst_per_second(limits.burst_per_second);
    message.set_live_inboxes(limits.live_inboxes);
    message.set_default_ttl_seconds(limits.default_ttl.count());
    message.set_max_ttl_seconds(limits.max_ttl.count());
    message.set_max_message_bytes(limits.max_message_bytes);
    message.set_webhooks(limits.webhooks);
    message.set_api_keys(limits.api_keys);
    message.set_routing_rules(limits.routing_rules);
    return message;
}

plan_limits from_proto(const accounts::v1::PlanLimits& message)
{
    plan_limits limits;
    limits.api_access = message.api_access();
    limits.requests_per_day = message.requests_per_day();
    limits.burst_per_second = message.burst_per_second();
    limits.live_inboxes = message.live_inboxes();
    limits.default_ttl = std::chrono::seconds(message.default_ttl_seconds());
    limits.max_ttl = std::chrono::seconds(message.max_ttl_seconds());
    limits.max_message_bytes = message.max_message_bytes();
    limits.webhooks = message.webhooks();
    limits.api_keys = message.api_keys();
    limits.routing_rules = message.routing_rules();
    return limits;
}

} // namespace

accounts::v1::AccountState to_proto(const account_state& state)
{
    accounts::v1::AccountState message;
    message.set_account_id(state.account.text());
    message.set_plan(state.plan);
    message.set_version(state.version);
    message.set_deleted(state.is_deleted);
    if (state.plan_ends_at)
        *message.mutable_plan_ends_at() = rpc::to_timestamp(*state.plan_ends_at);
    *message.mutable_limits() = to_proto(state.limits);
    *message.mutable_limits_after_end() = to_proto(state.limits_after_end);
    return message;
}

result<account_state> from_proto(const accounts::v1::AccountState& message)
{
    const auto account = account_id::parse(message.account_id());
    if (!account)
        return account.error();
    account_state state;
    state.account = *account;
    state.plan = message.plan();
    state.version = message.version();
    state.is_deleted = message.deleted();
    if (message.has_plan_ends_at())
        state.plan_ends_at = rpc::to_time(message.plan_ends_at());
    state.limits = from_proto(message.limits());
    state.limits_after_end = from_proto(message.limits_after_end());
    return state;
}

} // namespace tempinbox::plans
