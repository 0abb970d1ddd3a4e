#include "gateway/resources/account.hpp"

#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/pipeline/tagged_account.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

constexpr int max_webhooks = 100;

inbox::v1::CountInboxesRequest count_inboxes_of(const caller& who)
{
    inbox::v1::CountInboxesRequest request;
    set_account(request, who);
    return request;
}

webhooks::v1::ListWebhooksRequest list_webhooks_of(const caller& who)
{
    webhooks::v1::ListWebhooksRequest request;
    request.set_account_id(who.account().text());
    request.set_limit(max_webhooks);
    return request;
}

// For an API key with a tag there are none.
awaitable<result<std::int64_t>> count_webhooks(const caller& who, webhook_client& webhooks)
{
    if (who.tag())
        co_return 0;
    const auto found =
        co_await webhooks.call(webhook_methods::list_webhooks, list_webhooks_of(who));
    if (!found)
        co_return found.error();
    co_return found->webhooks_size();
}

ratelimit::v1::GetUsageRequest usage_of_today(const caller& who)
{
    ratelimit::v1::GetUsageRequest request;
    request.set_account_id(who.account().text());
    request.set_days(1);
    return request;
}

std::int64_t sum_of(const ratelimit::v1::GetUsageResponse& usage)
{
    std::int64_t requests = 0;
    for (const auto& day : usage.days())
        requests += day.requests();
    return requests;
}

} // namespace

// GET /v1/account
awaitable<http::response> get_account(const http::request& received, const caller& who,
                                      accounts::account_repository& accounts, inbox_client& inboxes,
                                      webhook_client& webhooks, rate_limit_client& quotas)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());

    const auto account = co_await accounts.find(who.account());
    if (!account)
        co_return http::error_response(account.error());

    const auto live = co_await inboxes.call(inbox_methods::count_inboxes, count_inboxes_of(who));
    if (!live)
        co_return http::error_response(live.error());

    const auto webhooks_in_use = co_await count_webhooks(who, webhooks);
    if (!webhooks_in_use)
        co_return http::error_response(webhooks_in_use.error());

    account_usage usage;
    usage.requests_today = who.quota.limit - who.quota.remaining;
    if (who.is_dashboard) {
        const auto today = co_await quotas.call(rate_limit_methods::get_usage, usage_of_today(who));
        if (today) // otherwise the last known value has to do
            usage.requests_today = std::max(usage.requests_today, sum_of(*today));
    }
    usage.live_inboxes = live->live_inboxes();
    usage.webhooks = *webhooks_in_use;
    co_return http::ok_json(to_json(*account, usage, who.now));
}

} // namespace tempinbox::gateway
