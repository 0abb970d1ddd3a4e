#include "gateway/resources/usage.hpp"

#include "common/json/writer.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/pipeline/tagged_account.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

template <class Request>
Request request_of(const caller& who)
{
    Request request;
    request.set_account_id(who.account().text());
    request.set_days(usage_history::days);
    return request;
}

inbox::v1::CountEmailsRequest emails_of(const caller& who)
{
    inbox::v1::CountEmailsRequest request;
    set_account(request, who);
    request.set_days(usage_history::days);
    return request;
}

// For an API key with a tag there are none.
awaitable<result<webhooks::v1::CountDeliveriesResponse>> count_deliveries(const caller& who,
                                                                          webhook_client& webhooks)
{
    if (who.tag())
        co_return webhooks::v1::CountDeliveriesResponse();
    co_return co_await webhooks.call(webhook_methods::count_deliveries,
                                     request_of<webhooks::v1::CountDeliveriesRequest>(who));
}

} // namespace

usage_history::day_use& usage_history::of(std::int64_t seconds)
{
    const auto date = std::chrono::floor<std::chrono::days>(
        std::chrono::sys_seconds(std::chrono::seconds(seconds)));
    const auto age = (today_ - date).count();
    if (age < 0 || age >= days)
        return nobodys_;
    return uses_[static_cast<std::size_t>(days - 1 - age)];
}

std::string usage_history::json() const
{
    json::writer out;
    out.begin_object().key("days").begin_array();
    for (int age = 0; age < days; ++age) {
        const auto& use = uses_[static_cast<std::size_t>(days - 1 - age)];
        const time_point start = today_ - std::chrono::days(age);
        out.begin_object();
        out.member("day", to_iso8601(start).substr(0, std::string_view("2026-11-21").size()));
        out.member("requests", use.requests);
        out.member("emails", use.emails);
        out.member("deliveries", use.deliveries);
        out.end_object();
    }
    out.end_array().end_object();
    return out.take();
}

// GET /v1/account/usage
awaitable<http::response> get_usage(const http::request& received, const caller& who,
                                    rate_limit_client& quotas, inbox_client& inboxes,
                                    webhook_client& webhooks)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());

    const auto requests = co_await quotas.call(rate_limit_methods::get_usage,
                                               request_of<ratelimit::v1::GetUsageRequest>(who));
    if (!requests)
        co_return http::error_response(requests.error());
    const auto emails = co_await inboxes.call(inbox_methods::count_emails, emails_of(who));
    if (!emails)
        co_return http::error_response(emails.error());
    const auto deliveries = co_await count_deliveries(who, webhooks);
    if (!deliveries)
        co_return http::error_response(deliveries.error());

    usage_history history(who.now);
    for (const auto& day : requests->days())
        history.of(day.day().seconds()).requests = day.requests();
    for (const auto& day : emails->days())
        history.of(day.day().seconds()).emails = day.emails();
    for (const auto& day : deliveries->days())
        history.of(day.day().seconds()).deliveries = day.deliveries();
    // For today, another replica may hold usage that it has not reported yet; this request's own
    // quota response is at least as recent.
    auto& today = history.of_today();
    today.requests = std::max(today.requests, who.quota.limit - who.quota.remaining);
    co_return http::ok_json(history.json());
}

} // namespace tempinbox::gateway
