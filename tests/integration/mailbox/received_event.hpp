#pragma once

#include "common/rpc/timestamp.hpp"
#include "integration/mailbox/seeds.hpp"

namespace tempinbox::mailbox::seeds {

// Gives the message's first delivery the event that mail-ingest makes of it, whole.
inline void make_received_event(new_message& message)
{
    auto& delivery = message.deliveries.front();
    events::v1::EmailReceived event;
    event.set_email_id(delivery.id.text());
    event.set_inbox_id(delivery.inbox.text());
    event.set_account_id(delivery.account.text());
    event.set_from(message.from);
    event.set_subject(message.subject);
    for (const auto& recipient : delivery.rcpt_to)
        event.add_to(recipient);
    *event.mutable_received_at() = rpc::to_timestamp(message.received_at);
    event.set_size_bytes(message.size);
    event.set_attachment_count(message.attachment_count);
    event.set_has_code(true);
    delivery.event = events::make_row(event, trace::context(trace::traceparent::make()));
}

} // namespace tempinbox::mailbox::seeds
