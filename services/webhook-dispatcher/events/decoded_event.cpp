#include "webhook-dispatcher/events/decoded_event.hpp"

#include "common/core/text.hpp"
#include "common/json/writer.hpp"
#include "common/rpc/timestamp.hpp"

#include <google/protobuf/timestamp.pb.h>

namespace tempinbox::webhooks {
namespace {

template <class Message>
result<decoded_event> fill(decoded_event event, result<Message> message,
                           const google::protobuf::Timestamp& (Message::*time)() const,
                           bool (Message::*has_time)() const)
{
    if (!message)
        return message.error();
    event.account = account_id::parse(message->account_id()).value();
    if (((*message).*has_time)())
        event.occurred_at = rpc::to_time(((*message).*time)());
    event.message = std::move(*message);
    return event;
}

std::string_view reason_text(events::v1::ExpiryReason reason)
{
    return reason == events::v1::EXPIRY_REASON_DELETED ? "deleted" : "ttl";
}

void write_data(json::writer& out, const events::v1::EmailReceived& message)
{
    out.member("emailId", message.email_id());
    out.member("inboxId", message.inbox_id());
    out.member("from", message.from());
    out.member("subject", message.subject());
}

void write_data(json::writer& out, const events::v1::InboxCreated& message)
{
    out.member("inboxId", message.inbox_id());
    out.member("emailAddress", message.email_address());
    out.member("createdAt", rpc::to_time(message.created_at()));
    out.member("expiresAt", rpc::to_time(message.expires_at()));
}

void write_data(json::writer& out, const events::v1::InboxExpired& message)
{
    out.member("inboxId", message.inbox_id());
    out.member("emailAddress", message.email_address());
    out.member("expiredAt", rpc::to_time(message.expired_at()));
    out.member("reason", reason_text(message.reason()));
}

} // namespace

result<decoded_event> decode(const kafka::record& record)
{
    const auto envelope = events::read_envelope(record);
    if (!envelope)
        return envelope.error();
    const auto kind = parse_event_kind(envelope->type);
    if (!kind)
        return failure{errc::invalid_argument, "the header ce_type " + kind.error().message};

    decoded_event event;
    event.id = envelope->id;
    event.kind = *kind;
    event.occurred_at = envelope->time;
    if (envelope->parent)
        event.traceparent = envelope->parent->text();
    switch (event.kind) {
    case event_kind::email_received: {
        auto message = events::read_email_received(record);
        if (message && message->email_id() != event.id.text())
            return failure{errc::invalid_argument,
                           "the header ce_id is not the email_id " + quote(message->email_id())};
        return fill(std::move(event), std::move(message), &events::v1::EmailReceived::received_at,
                    &events::v1::EmailReceived::has_received_at);
    }
    case event_kind::inbox_created:
        return fill(std::move(event), events::read_inbox_created(record),
                    &events::v1::InboxCreated::created_at,
                    &events::v1::InboxCreated::has_created_at);
    case event_kind::inbox_expired:
        return fill(std::move(event), events::read_inbox_expired(record),
                    &events::v1::InboxExpired::expired_at,
                    &events::v1::InboxExpired::has_expired_at);
    }
    return failure{errc::invalid_argument, "the event is of no known kind"};
}

inbox_id inbox_of(const decoded_event& event)
{
    return std::visit(
        [](const auto& message) { return inbox_id::parse(message.inbox_id()).value(); },
        event.message);
}

std::optional<rules::rule_input> mail_of(const decoded_event& event)
{
    const auto* message = std::get_if<events::v1::EmailReceived>(&event.message);
    if (message == nullptr)
        return std::nullopt;
    const std::vector<std::string> to(message->to().begin(), message->to().end());
    return rules::rule_input(message->from(), to, message->subject());
}

std::string make_payload(const decoded_event& event)
{
    json::writer out;
    out.begin_object();
    out.member("event", to_string(event.kind));
    out.member("timestamp", event.occurred_at);
    out.key("data").begin_object();
    std::visit([&out](const auto& message) { write_data(out, message); }, event.message);
    out.end_object().end_object();
    return out.take();
}

} // namespace tempinbox::webhooks
