#include "mailbox/inbox_events.hpp"

#include "common/events/events.hpp"
#include "common/rpc/timestamp.hpp"
#include "common/trace/current.hpp"

namespace tempinbox::mailbox {

outbox::row make_created_event(const inbox& made)
{
    events::v1::InboxCreated event;
    event.set_inbox_id(made.id.text());
    event.set_account_id(made.account.text());
    event.set_email_address(made.address);
    *event.mutable_created_at() = rpc::to_timestamp(made.created_at);
    *event.mutable_expires_at() = rpc::to_timestamp(made.expires_at);
    return events::make_row(event, event_id::make(), trace::current_or_new());
}

outbox::row make_expired_event(const ended_inbox& ended)
{
    events::v1::InboxExpired event;
    event.set_inbox_id(ended.id.text());
    event.set_account_id(ended.account.text());
    event.set_email_address(ended.address);
    *event.mutable_expired_at() = rpc::to_timestamp(ended.expired_at);
    event.set_reason(ended.reason == expiry_reason::ttl ? events::v1::EXPIRY_REASON_TTL
                                                        : events::v1::EXPIRY_REASON_DELETED);
    return events::make_row(event, event_id::make(), trace::current_or_new());
}

} // namespace tempinbox::mailbox
