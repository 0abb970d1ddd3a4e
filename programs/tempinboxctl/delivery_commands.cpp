#include "tempinboxctl/command.hpp"

#include "common/rpc/timestamp.hpp"
#include "common/rpc/webhook_methods.hpp"
#include "tempinboxctl/session.hpp"

#include "tempinbox/webhooks/v1/delivery_service.pb.h"

namespace tempinbox::ctl {
namespace {

using namespace webhooks::v1;

constexpr int page_size = 100;
constexpr std::int64_t default_limit = 100;

std::optional<time_point> time_of(bool is_known, const google::protobuf::Timestamp& stamp)
{
    if (!is_known)
        return std::nullopt;
    return rpc::to_time(stamp);
}

record to_record(const DeliveryAttempt& shown)
{
    record fields;
    fields.add_time("at", time_of(shown.has_at(), shown.at()));
    fields.add("statusCode", shown.has_status_code()
                                 ? record::field(std::int64_t{shown.status_code()})
                                 : record::field());
    fields.add("durationMs", std::int64_t{shown.duration_ms()});
    fields.add("error", shown.has_error() ? record::field(shown.error()) : record::field());
    fields.add("responseBody",
               shown.has_response_body() ? record::field(shown.response_body()) : record::field());
    return fields;
}

record to_record(const Delivery& shown)
{
    std::vector<record> attempts;
    for (const auto& attempt : shown.attempts())
        attempts.push_back(to_record(attempt));
    record fields;
    fields.add("deliveryId", shown.delivery_id())
        .add("webhookId", shown.webhook_id())
        .add("eventId", shown.event_id())
        .add("event", shown.event());
    fields.add("status", shown.status()).add("attempts", std::move(attempts));
    fields.add_time("nextAttemptAt", time_of(shown.has_next_attempt_at(), shown.next_attempt_at()));
    fields.add_time("createdAt", time_of(shown.has_created_at(), shown.created_at()));
    fields.add("ruleIds",
               std::vector<std::string>(shown.rule_ids().begin(), shown.rule_ids().end()));
    return fields;
}

awaitable<result<command_result>> list(session& suite, arguments given)
{
    const auto limit = given.integer("limit", 1, 1'000'000);
    if (!limit)
        co_return limit.error();
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    auto left = limit->value_or(default_limit);
    std::vector<record> all;
    ListDeliveriesRequest request;
    request.set_account_id(account->id().text());
    request.set_webhook_id(given.at("WEBHOOK"));
    request.set_status(given.value("status").value_or(""));
    bool has_more = true;
    while (has_more && left > 0) {
        request.set_limit(static_cast<int>(std::min<std::int64_t>(left, page_size)));
        const auto page =
            co_await suite.webhook_dispatcher().call(webhook_methods::list_deliveries, request);
        if (!page)
            co_return page.error();
        for (const auto& delivery : page->deliveries())
            all.push_back(to_record(delivery));
        left -= page->deliveries_size();
        request.set_cursor(page->next_cursor());
        has_more = !page->next_cursor().empty();
    }
    co_return command_result("deliveries", std::move(all));
}

awaitable<result<command_result>> retry(session& suite, arguments given)
{
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    RetryDeliveryRequest request;
    request.set_account_id(account->id().text());
    request.set_webhook_id(given.at("WEBHOOK"));
    request.set_delivery_id(given.at("DELIVERY"));
    request.set_attempt_id(uuid::make_v7().text());
    const auto sent =
        co_await suite.webhook_dispatcher().call(webhook_methods::retry_delivery, request);
    if (!sent)
        co_return sent.error();
    co_return command_result(to_record(sent->delivery()));
}

} // namespace

std::vector<command> delivery_commands()
{
    const positional account("ACCOUNT", "id or email address of the account");
    const positional webhook("WEBHOOK", "id of the webhook");
    std::vector<command> commands;

    auto& listing = commands.emplace_back(
        "delivery list", "Lists the deliveries of a webhook and its responses, newest first");
    listing.positionals = {account, webhook};
    listing.options.emplace_back("status", "S", "only pending, succeeded or failed ones",
                                 option::kind::optional);
    listing.options.emplace_back("limit", "N", "maximum number, by default 100",
                                 option::kind::optional);
    listing.run = list;

    auto& retrying = commands.emplace_back(
        "delivery retry", "Sends a delivery again now and shows the receiver's response");
    retrying.positionals = {account, webhook, positional("DELIVERY", "id of the delivery")};
    retrying.run = retry;
    return commands;
}

} // namespace tempinbox::ctl
