#pragma once

#include "webhook-dispatcher/storage/event_kind.hpp"

#include "common/events/events.hpp"
#include "common/rules/rules.hpp"

#include <optional>
#include <string>
#include <variant>

namespace tempinbox::webhooks {

// An event as read from its topic.
struct decoded_event
{
    event_id id;
    account_id account;
    event_kind kind = event_kind::email_received;
    time_point occurred_at;
    std::string traceparent; // empty if there was none
    std::variant<events::v1::EmailReceived, events::v1::InboxCreated, events::v1::InboxExpired>
        message;
};

// The failure says why the record is a dead letter.
result<decoded_event> decode(const kafka::record& record);

inbox_id inbox_of(const decoded_event& event);

// The mail as routing rules see it; absent for the other kinds.
std::optional<rules::rule_input> mail_of(const decoded_event& event);

// The exact bytes that are stored, signed and sent: `{"event":…,"timestamp":…,"data":{…}}`
// (docs/api.md, "Webhooks"). Made once for each event.
std::string make_payload(const decoded_event& event);

} // namespace tempinbox::webhooks
