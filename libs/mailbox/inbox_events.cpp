#include "mailbox/inbox_events.hpp"

#include "common/events/events.hpp"
#include "common/rpc/timestamp.hpp"
#include "common/trace/current.hpp"

namespace tempinbox::mailbox {
namespace {

// Not name, tags or metadata: the topic holds nothing that users wrote.
template <class Inbox>
events::v1::InboxState state_of(const Inbox& from, events::v1::InboxStatus status)
{
    events::v1::InboxState state;
    state.set_inbox_id(from.id.text());
    state.set_account_id(from.account.text());
    state.set_email_address(from.address);
    state.set_status(status);
    *state.mutable_created_at() = rpc::to_timestamp(from.created_at);
    *state.mutable_expires_at() = rpc::to_timestamp(from.expires_at);
    state.set_version(from.state_version);
    return state;
}

} // namespace

outbox::row make_created_event(const inbox& made, event_id id)
{
    events::v1::InboxCreated event;
    event.set_inbox_id(made.id.text());
    event.set_account_id(made.account.text());
    event.set_email_address(made.address);
    *event.mutable_created_at() = rpc::to_timestamp(made.created_at);
    *event.mutable_expires_at() = rpc::to_timestamp(made.expires_at);
    return events::make_row(event, id, trace::current_or_new());
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
    return events::make_row(event, ended.event, trace::current_or_new());
}

outbox::row make_state_event(const inbox& living, time_point changed_at)
{
    return events::make_row(state_of(living, events::v1::INBOX_STATUS_ACTIVE), event_id::make(),
                            changed_at, trace::current_or_new());
}

outbox::row make_state_event(const ended_inbox& ended)
{
    auto state = state_of(ended, events::v1::INBOX_STATUS_EXPIRED);
    *state.mutable_expired_at() = rpc::to_timestamp(ended.expired_at);
    return events::make_row(state, event_id::make(), ended.expired_at, trace::current_or_new());
}

outbox::row make_state_tombstone(account_id account, inbox_id id, std::int64_t last_version)
{
    events::v1::InboxState purged;
    purged.set_inbox_id(id.text());
    purged.set_account_id(account.text());
    purged.set_version(last_version + 1);
    return events::make_tombstone(purged, event_id::make(), trace::current_or_new());
}

} // namespace tempinbox::mailbox
