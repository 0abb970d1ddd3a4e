#pragma once

#include "common/core/ids.hpp"
#include "common/kafka/message.hpp"
#include "common/outbox/outbox.hpp"
#include "common/plans/account_state.hpp"
#include "common/trace/traceparent.hpp"

#include "tempinbox/events/v1/email_received.pb.h"
#include "tempinbox/events/v1/inbox_created.pb.h"
#include "tempinbox/events/v1/inbox_expired.pb.h"
#include "tempinbox/events/v1/inbox_state.pb.h"
#include "tempinbox/webhooks/v1/event_service.pb.h"

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::events {

namespace topics {
inline constexpr const char* email_received = "email.received";
inline constexpr const char* inbox_created = "inbox.created";
inline constexpr const char* inbox_expired = "inbox.expired";
inline constexpr const char* inbox_state = "inbox.state";
inline constexpr const char* inbox_activity = "inbox.activity"; // for gateways alone
inline constexpr const char* feed_activity = "feed.activity";   // for gateways alone
inline constexpr const char* account_state = "account.state";
} // namespace topics

// What the values of a topic are.
struct topic_schema
{
    const char* topic;
    const google::protobuf::Descriptor* message;
};
// Of the topics that other teams read.
std::vector<topic_schema> public_schemas();

// The consumer group whose offsets a restore sets back.
inline constexpr const char* webhook_dispatcher_group = "tempinbox-webhook-dispatcher";

// `<topic>.dead-letter`
std::string dead_letter_topic(std::string_view topic);

// The outbox rows of the events: key, Protobuf value and CloudEvents headers in binary mode (Kafka
// protocol binding 1.0.2): ce_specversion, ce_id, ce_type, ce_source (`/tempinbox/<service>`),
// ce_subject (the key), ce_time, ce_dataschema (`urn:tempinbox:schema:<message>`), ce_accountid,
// ce_partitionkey (the key), content-type application/protobuf, traceparent, and tracestate where
// there is one; email.received has ce_sequence, too.
outbox::row make_row(const v1::EmailReceived& event, const trace::context& cause);
// For an event that was made before its sequence was known: the row's order and ce_sequence, not
// the value. mailbox.store_mail writes the same header.
void set_sequence(outbox::row& email_received, std::int64_t sequence);
// What tells gateways of an email: the value of its event, without headers, on inbox.activity,
// which has few partitions. A hint: it is in no outbox, so it may be lost.
kafka::message make_activity(const outbox::row& email_received);
// What tells gateways that a feed has events up to a place. A hint as well, in no outbox.
kafka::message make_activity(const webhooks::v1::FeedPosition& latest);
outbox::row make_row(const v1::InboxCreated& event, event_id id, const trace::context& cause);
outbox::row make_row(const v1::InboxExpired& event, event_id id, const trace::context& cause);
// `changed_at` is when the inbox came into the state.
outbox::row make_row(const v1::InboxState& state, event_id id, time_point changed_at,
                     const trace::context& cause);
// Of an inbox that was purged: its ids and a version above that of every state, in the header
// `inbox_version`.
outbox::row make_tombstone(const v1::InboxState& purged, event_id id, const trace::context& cause);
outbox::row make_row(const plans::account_state& state, event_id id, const trace::context& cause);

// A record as read: its identity and time from the headers, the message from the value. Failures
// say what is wrong, for the dead letter's reason.
struct envelope
{
    event_id id;
    std::string type; // the topic's name
    time_point time;
    std::optional<trace::traceparent> parent;
};
result<envelope> read_envelope(const kafka::record& record);
// Of email.received and inbox.activity.
result<v1::EmailReceived> read_email_received(const kafka::record& record);
result<v1::InboxCreated> read_inbox_created(const kafka::record& record);
result<v1::InboxExpired> read_inbox_expired(const kafka::record& record);
result<webhooks::v1::FeedPosition> read_feed_activity(const kafka::record& record);
result<plans::account_state> read_account_state(const kafka::record& record);

// The record for `<topic>.dead-letter`: the original with `dead_letter_reason`,
// `dead_letter_source` (topic/partition/offset) and `dead_letter_consumer` added.
kafka::message make_dead_letter(const kafka::record& record, std::string_view consumer,
                                std::string_view reason);
// Reverses make_dead_letter, once the reason is fixed: the original record, for its own topic.
result<kafka::message> make_replay(const kafka::record& dead_letter);

// The event as written again for consumers of `to_topic`: marked by the header `ce_backfill`, and
// without the trace of the work that first stored it.
kafka::message make_backfill(outbox::row event, std::string to_topic);

} // namespace tempinbox::events
