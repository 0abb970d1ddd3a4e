#include "webhook-dispatcher/api/requests.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/rpc/timestamp.hpp"

#include <algorithm>
#include <charconv>

namespace tempinbox::webhooks {
namespace {

constexpr std::size_t max_description_length = 500;
// What the cursors of a list that is oldest first begin with.
constexpr std::string_view oldest_first_prefix = "asc.";

failure invalid(std::string text)
{
    return failure{errc::invalid_argument, std::move(text)};
}

} // namespace

result<void> check_text(std::string_view field, std::string_view text, std::size_t min,
                        std::size_t max)
{
    const auto characters = count_characters(text);
    if (characters < min || characters > max)
        return invalid(std::string(field) + " must have " + std::to_string(min) + " to " +
                       std::to_string(max) + " characters, not " + std::to_string(characters));
    const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
    });
    if (has_control || !is_valid_utf8(text))
        return invalid(std::string(field) + " must not contain control characters");
    return {};
}

result<webhook_params> read_params(const v1::CreateWebhookRequest& request,
                                   const url_policy& policy)
{
    auto account = plans::from_proto(request.account());
    if (!account)
        return account.error();
    const auto id = webhook_id::parse(request.webhook_id());
    if (!id)
        return id.error();
    auto target = check_url(request.url(), policy);
    if (!target)
        return target.error();
    const auto events = read_event_set({request.events().begin(), request.events().end()});
    if (!events)
        return events.error();
    if (const auto checked =
            check_text("description", request.description(), 0, max_description_length);
        !checked)
        return checked.error();

    webhook_params params;
    params.requested.account = account->account;
    params.requested.id = *id;
    params.requested.url = request.url();
    params.requested.events = *events;
    params.requested.description = request.description();
    params.account = std::move(*account);
    params.target = std::move(*target);
    return params;
}

result<webhook_change_params> read_change(const v1::UpdateWebhookRequest& request,
                                          const url_policy& policy)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        return account.error();
    const auto id = webhook_id::parse(request.webhook_id());
    if (!id)
        return id.error();
    webhook_change_params params;
    params.account = *account;
    params.id = *id;
    if (request.has_url()) {
        auto target = check_url(request.url(), policy);
        if (!target)
            return target.error();
        params.target = std::move(*target);
        params.change.url = request.url();
    }
    if (request.has_events()) {
        const auto events =
            read_event_set({request.events().events().begin(), request.events().events().end()});
        if (!events)
            return events.error();
        params.change.events = *events;
    }
    if (request.has_description()) {
        if (const auto checked =
                check_text("description", request.description(), 0, max_description_length);
            !checked)
            return checked.error();
        params.change.description = request.description();
    }
    if (request.has_is_enabled())
        params.change.is_enabled = request.is_enabled();
    return params;
}

result<int> read_limit(int given)
{
    if (given == 0)
        return 25;
    if (given < 1 || given > 100)
        return invalid("limit must be an integer from 1 to 100, not " + std::to_string(given));
    return given;
}

result<std::optional<endpoint_position>> read_cursor(std::string_view cursor, list_order order)
{
    if (cursor.empty())
        return std::optional<endpoint_position>{};
    auto bad =
        invalid("cursor must be one that this list gave in the same order, not " + quote(cursor));
    bad.reason = error_reason::invalid_cursor;
    const auto bytes = from_base64url(cursor);
    if (!bytes)
        return bad;
    std::string_view text = *bytes;
    if (text.starts_with(oldest_first_prefix) != (order == list_order::oldest_first))
        return bad;
    if (order == list_order::oldest_first)
        text.remove_prefix(oldest_first_prefix.size());
    const auto dot = text.find('.');
    if (dot == std::string_view::npos)
        return bad;
    std::int64_t micros = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + dot, micros);
    const auto id = webhook_id::parse(text.substr(dot + 1));
    if (error != std::errc{} || end != text.data() + dot || !id)
        return bad;
    return std::optional<endpoint_position>{endpoint_position{from_unix_micros(micros), *id}};
}

std::string make_cursor(const endpoint& last, list_order order)
{
    const std::string prefix(order == list_order::oldest_first ? oldest_first_prefix : "");
    return to_base64url(prefix + std::to_string(to_unix_micros(last.created_at)) + "." +
                        last.id.text());
}

v1::Webhook to_message(const endpoint& stored)
{
    v1::Webhook message;
    message.set_webhook_id(stored.id.text());
    message.set_url(stored.url);
    for (const auto& name : stored.events.names())
        message.add_events(name);
    message.set_description(stored.description);
    message.set_is_enabled(stored.is_enabled);
    if (stored.disabled_reason)
        message.set_disabled_reason(*stored.disabled_reason);
    *message.mutable_created_at() = rpc::to_timestamp(stored.created_at);
    return message;
}

} // namespace tempinbox::webhooks
