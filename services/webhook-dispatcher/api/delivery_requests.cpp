#include "webhook-dispatcher/api/delivery_requests.hpp"

#include "common/rpc/timestamp.hpp"
#include "webhook-dispatcher/api/requests.hpp"
#include "webhook-dispatcher/storage/delivery_id.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

#include <google/protobuf/timestamp.pb.h>

namespace tempinbox::webhooks {
namespace {

constexpr std::size_t check_bytes = 8;

// Refuses a typed-in or altered cursor, or one of another list. No secret: it guards against
// mistakes only.
std::string check_of(const log_params& params, const std::string& event)
{
    const auto status = params.status ? std::string(to_string(*params.status)) : "";
    const std::string list =
        params.order == list_order::oldest_first ? "deliveries asc " : "deliveries ";
    return crypto::sha256(list + params.account.text() + " " + params.webhook.text() + " " +
                          status + " " + event)
        .substr(0, check_bytes);
}

result<event_id> read_log_cursor(const log_params& params, std::string_view cursor)
{
    const auto bytes = from_base64url(cursor);
    if (bytes && bytes->size() > check_bytes) {
        const auto event = event_id::parse(std::string_view(*bytes).substr(check_bytes));
        if (event && bytes->substr(0, check_bytes) == check_of(params, event->text()))
            return *event;
    }
    return failure{errc::invalid_argument,
                   "cursor must be one that this list gave for the same filter and order, not " +
                       quote(cursor),
                   error_reason::invalid_cursor};
}

v1::DeliveryAttempt to_message(const logged_attempt& shown)
{
    v1::DeliveryAttempt message;
    *message.mutable_at() = rpc::to_timestamp(shown.at);
    if (shown.status != 0)
        message.set_status_code(shown.status);
    message.set_duration_ms(static_cast<int>(shown.took.count()));
    if (!shown.error.empty())
        message.set_error(shown.error);
    if (!shown.response_body.empty())
        message.set_response_body(shown.response_body);
    return message;
}

v1::NamedRuleOutcome to_message(const named_rule_match& said)
{
    v1::NamedRuleOutcome message;
    message.set_rule_id(said.match.rule.text());
    message.set_matched(said.match.matched);
    if (said.name)
        message.set_name(*said.name);
    return message;
}

v1::EmailDeliveryAttempt to_message(const email_attempt& shown)
{
    v1::EmailDeliveryAttempt message;
    message.set_number(shown.number);
    *message.mutable_at() = rpc::to_timestamp(shown.at);
    if (shown.status != 0)
        message.set_status_code(shown.status);
    message.set_duration_ms(static_cast<int>(shown.took.count()));
    if (!shown.error.empty())
        message.set_error(shown.error);
    return message;
}

v1::EmailDelivery to_message(const email_delivery& shown, event_id email)
{
    v1::EmailDelivery message;
    message.set_delivery_id(make_delivery_id(email, shown.webhook).text());
    message.set_webhook_id(shown.webhook.text());
    if (shown.url)
        message.set_url(*shown.url);
    message.set_status(std::string(to_string(shown.status)));
    *message.mutable_created_at() = rpc::to_timestamp(shown.created_at);
    if (shown.next_attempt_at)
        *message.mutable_next_attempt_at() = rpc::to_timestamp(*shown.next_attempt_at);
    if (!shown.reason.empty())
        message.set_reason(shown.reason);
    for (const auto& rule : shown.rules)
        message.add_rule_ids(rule.text());
    for (const auto& attempt : shown.attempts)
        *message.add_attempts() = to_message(attempt);
    return message;
}

} // namespace

result<log_params> read_params(const v1::ListDeliveriesRequest& request)
{
    log_params params;
    const auto account = account_id::parse(request.account_id());
    if (!account)
        return account.error();
    params.account = *account;
    const auto webhook = webhook_id::parse(request.webhook_id());
    if (!webhook)
        return webhook.error();
    params.webhook = *webhook;
    if (!request.status().empty()) {
        const auto status = parse_delivery_status(request.status());
        if (!status)
            return status.error();
        params.status = *status;
    }
    params.order = to_list_order(request.oldest_first());
    const auto limit = read_limit(request.limit());
    if (!limit)
        return limit.error();
    params.limit = *limit;
    if (!request.cursor().empty()) {
        const auto position = read_log_cursor(params, request.cursor());
        if (!position)
            return position.error();
        params.position = *position;
    }
    return params;
}

result<replay_params> read_params(const v1::ReplayDeliveriesRequest& request, time_point now)
{
    replay_params params;
    const auto account = account_id::parse(request.account_id());
    if (!account)
        return account.error();
    params.account = *account;
    const auto webhook = webhook_id::parse(request.webhook_id());
    if (!webhook)
        return webhook.error();
    params.webhook = *webhook;
    const auto id = uuid::parse(request.replay_id());
    if (!id)
        return failure{errc::invalid_argument,
                       "replay_id must be a UUID, not " + quote(request.replay_id())};
    params.id = *id;
    if (request.status() != "" && request.status() != "failed" && request.status() != "succeeded")
        return failure{errc::invalid_argument,
                       "status must be one of failed, succeeded, not " + quote(request.status())};
    params.is_of_succeeded = request.status() == "succeeded";
    params.since = rpc::to_time(request.since());
    if (!request.has_since() || params.since < time_point{} || params.since > now)
        return failure{errc::invalid_argument, "since must be a time in the past"};
    return params;
}

std::string make_log_cursor(const log_params& params, event_id last)
{
    return to_base64url(check_of(params, last.text()) + last.text());
}

v1::Delivery to_message(const logged_delivery& shown)
{
    v1::Delivery message;
    message.set_delivery_id(make_delivery_id(shown.event, shown.webhook).text());
    message.set_webhook_id(shown.webhook.text());
    message.set_event_id(shown.event.text());
    message.set_event(std::string(to_string(shown.kind)));
    message.set_status(std::string(to_string(shown.status)));
    for (const auto& attempt : shown.attempts)
        *message.add_attempts() = to_message(attempt);
    if (shown.next_attempt_at)
        *message.mutable_next_attempt_at() = rpc::to_timestamp(*shown.next_attempt_at);
    *message.mutable_created_at() = rpc::to_timestamp(shown.created_at);
    for (const auto& rule : shown.rules)
        message.add_rule_ids(rule.text());
    return message;
}

v1::GetEmailDeliveriesResponse to_message(const email_deliveries& found, event_id email)
{
    v1::GetEmailDeliveriesResponse message;
    for (const auto& rule : found.rules)
        *message.add_rules() = to_message(rule);
    for (const auto& delivery : found.deliveries)
        *message.add_deliveries() = to_message(delivery, email);
    message.set_is_truncated(found.is_truncated);
    return message;
}

} // namespace tempinbox::webhooks
