#include "webhook-dispatcher/manual_retry/sample_event.hpp"

#include "common/rpc/timestamp.hpp"

#include <google/protobuf/timestamp.pb.h>

namespace tempinbox::webhooks {
namespace {

constexpr const char* sample_address = "sample@inbox.example.com";
constexpr std::chrono::hours sample_life{24};

events::v1::EmailReceived sample_email(event_id id, time_point now)
{
    events::v1::EmailReceived message;
    message.set_email_id(id.text());
    message.set_inbox_id(inbox_id::make().text());
    message.set_from("sender@example.com");
    message.set_subject("Test of your webhook");
    *message.mutable_received_at() = rpc::to_timestamp(now);
    return message;
}

events::v1::InboxCreated sample_inbox(time_point now)
{
    events::v1::InboxCreated message;
    message.set_inbox_id(inbox_id::make().text());
    message.set_email_address(sample_address);
    *message.mutable_created_at() = rpc::to_timestamp(now);
    *message.mutable_expires_at() = rpc::to_timestamp(now + sample_life);
    return message;
}

events::v1::InboxExpired sample_end(time_point now)
{
    events::v1::InboxExpired message;
    message.set_inbox_id(inbox_id::make().text());
    message.set_email_address(sample_address);
    *message.mutable_expired_at() = rpc::to_timestamp(now);
    message.set_reason(events::v1::EXPIRY_REASON_TTL);
    return message;
}

} // namespace

decoded_event make_sample(event_kind kind, event_id id, account_id account, time_point now)
{
    decoded_event sample;
    sample.id = id;
    sample.account = account;
    sample.kind = kind;
    sample.occurred_at = now;
    switch (kind) {
    case event_kind::email_received:
        sample.message = sample_email(id, now);
        break;
    case event_kind::inbox_created:
        sample.message = sample_inbox(now);
        break;
    case event_kind::inbox_expired:
        sample.message = sample_end(now);
        break;
    }
    return sample;
}

} // namespace tempinbox::webhooks
