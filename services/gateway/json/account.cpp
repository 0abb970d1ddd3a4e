#include "gateway/json/resources.hpp"

namespace tempinbox::gateway {
namespace {

// Null: requests have no such limit. Without API access the number is 0.
bool is_unlimited(const plans::plan_limits& limits, const plans::limit& limit)
{
    return (limit.name == "requests_per_day" || limit.name == "burst_per_second") &&
           limits.api_access && limit.get(limits) == 0;
}

void put_limits(json::writer& out, const plans::plan_limits& limits)
{
    out.key("limits").begin_object();
    for (const auto& limit : plans::all_limits()) {
        if (limit.shown_to != plans::audience::api)
            continue;
        out.key(limit.json_name());
        if (is_unlimited(limits, limit))
            out.null();
        else if (limit.is_truth)
            out.value(limit.get(limits) != 0);
        else
            out.value(limit.get(limits));
    }
    out.end_object();
}

void put_account(json::writer& out, const accounts::account& account, time_point now)
{
    out.member("accountId", account.id().text());
    out.member("emailAddress", account.email);
    out.member("plan", account.state.plan_at(now));
    out.member("planEndsAt", account.state.plan_ends_at);
    put_limits(out, account.state.limits_at(now));
}

void put_plan(json::writer& out, const accounts::plan& offered)
{
    out.begin_object();
    out.member("plan", offered.name);
    out.key("price").begin_object();
    out.member("amount", offered.cost.amount);
    out.member("period", offered.cost.period);
    out.end_object();
    put_limits(out, offered.limits);
    out.end_object();
}

void put_usage(json::writer& out, const account_usage& usage)
{
    out.key("usage").begin_object();
    out.member("requestsToday", usage.requests_today);
    out.member("liveInboxes", usage.live_inboxes);
    out.member("webhooks", usage.webhooks);
    out.end_object();
}

} // namespace

std::string to_json(const accounts::account& account, const account_usage& usage, time_point now)
{
    json::writer out;
    out.begin_object();
    put_account(out, account, now);
    put_usage(out, usage);
    out.end_object();
    return out.take();
}

std::string to_json(const std::vector<accounts::plan>& plans)
{
    json::writer out;
    out.begin_object().key("plans").begin_array();
    for (const auto& offered : plans)
        put_plan(out, offered);
    out.end_array().end_object();
    return out.take();
}

std::string session_json(const accounts::account& account, std::string_view csrf_token,
                         time_point now)
{
    json::writer out;
    out.begin_object();
    put_account(out, account, now);
    out.member("csrfToken", csrf_token);
    out.end_object();
    return out.take();
}

} // namespace tempinbox::gateway
