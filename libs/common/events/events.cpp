#include "common/events/events.hpp"

#include "common/core/text.hpp"
#include "common/rpc/timestamp.hpp"

#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <charconv>

namespace tempinbox::events {
namespace {

// A URI, as CloudEvents wants it; the rest of it is the message's name in proto-schemas/.
constexpr std::string_view schema_prefix = "urn:tempinbox:schema:";

// What the headers of an event say beside its type.
struct event_facts
{
    std::string_view source;
    std::string key; // also what the event is about
    std::string account;
    std::string schema; // of the value: a message's full name
    event_id id;
    time_point time;
};

// CloudEvents 1.0.2: Kafka protocol binding, section 3.2 (binary content mode); extensions
// partitioning and sequence. `accountid` is an extension of ours.
outbox::row make_event_row(const char* topic, const event_facts& facts, std::string value,
                           const trace::context& cause)
{
    outbox::row made;
    made.id = facts.id;
    made.account = account_id::parse(facts.account).value();
    made.message.topic = topic;
    made.message.key = facts.key;
    made.message.value = std::move(value);
    auto& headers = made.message.headers;
    headers.emplace_back("ce_specversion", "1.0");
    headers.emplace_back("ce_id", facts.id.text());
    headers.emplace_back("ce_type", topic);
    headers.emplace_back("ce_source", "/tempinbox/" + std::string(facts.source));
    headers.emplace_back("ce_subject", facts.key);
    headers.emplace_back("ce_time", to_iso8601(facts.time));
    headers.emplace_back("ce_dataschema", std::string(schema_prefix) + facts.schema);
    headers.emplace_back("ce_accountid", facts.account);
    headers.emplace_back("ce_partitionkey", facts.key);
    headers.emplace_back("content-type", "application/protobuf");
    headers.emplace_back("traceparent", cause.span.text());
    if (!cause.tracestate.empty())
        headers.emplace_back("tracestate", cause.tracestate);
    return made;
}

// The facts of an event about an inbox.
template <class Event>
event_facts facts_of(const Event& event, std::string_view source, event_id id, time_point time)
{
    return {source, event.inbox_id(), event.account_id(), Event::descriptor()->full_name(), id,
            time};
}

template <class Message>
result<Message> read_message(const kafka::record& record)
{
    Message message;
    if (record.is_tombstone || !message.ParseFromString(record.value))
        return failure{errc::invalid_argument,
                       "the value is no " + Message::descriptor()->full_name()};
    return message;
}

// A tombstone has no value that could hold the version of the account's last state.
constexpr const char* tombstone_version = "account_version";

constexpr std::string_view dead_letter_suffix = ".dead-letter";
constexpr std::string_view dead_letter_headers = "dead_letter_";

template <class Id>
result<void> require_id(std::string_view text)
{
    const auto id = Id::parse(text);
    if (!id)
        return id.error();
    return {};
}

} // namespace

std::vector<topic_schema> public_schemas()
{
    return {{topics::email_received, v1::EmailReceived::descriptor()},
            {topics::inbox_created, v1::InboxCreated::descriptor()},
            {topics::inbox_expired, v1::InboxExpired::descriptor()},
            {topics::inbox_state, v1::InboxState::descriptor()}};
}

std::string dead_letter_topic(std::string_view topic)
{
    return std::string(topic) + std::string(dead_letter_suffix);
}

outbox::row make_row(const v1::EmailReceived& event, const trace::context& cause)
{
    const auto id = event_id::parse(event.email_id()).value();
    auto made =
        make_event_row(topics::email_received,
                       facts_of(event, "mail-ingest", id, rpc::to_time(event.received_at())),
                       event.SerializeAsString(), cause);
    if (event.sequence() != 0)
        set_sequence(made, event.sequence());
    return made;
}

void set_sequence(outbox::row& email_received, std::int64_t sequence)
{
    // CloudEvents wants texts that sort as the numbers do.
    constexpr std::size_t width = 19;
    auto digits = std::to_string(sequence);
    digits.insert(0, width - std::min(width, digits.size()), '0');
    email_received.sequence = sequence;
    email_received.message.headers.emplace_back("ce_sequence", std::move(digits));
}

kafka::message make_activity(const outbox::row& email_received)
{
    kafka::message made;
    made.topic = topics::inbox_activity;
    made.key = email_received.message.key;
    made.value = email_received.message.value;
    return made;
}

kafka::message make_activity(const webhooks::v1::FeedPosition& latest)
{
    kafka::message made;
    made.topic = topics::feed_activity;
    made.key = latest.account_id();
    made.value = latest.SerializeAsString();
    return made;
}

outbox::row make_row(const v1::InboxCreated& event, event_id id, const trace::context& cause)
{
    return make_event_row(topics::inbox_created,
                          facts_of(event, "inbox", id, rpc::to_time(event.created_at())),
                          event.SerializeAsString(), cause);
}

outbox::row make_row(const v1::InboxExpired& event, event_id id, const trace::context& cause)
{
    auto made = make_event_row(topics::inbox_expired,
                               facts_of(event, "inbox", id, rpc::to_time(event.expired_at())),
                               event.SerializeAsString(), cause);
    made.sequence = INT64_MAX; // after all mail of the inbox
    return made;
}

outbox::row make_row(const v1::InboxState& state, event_id id, time_point changed_at,
                     const trace::context& cause)
{
    auto made = make_event_row(topics::inbox_state, facts_of(state, "inbox", id, changed_at),
                               state.SerializeAsString(), cause);
    made.sequence = state.version();
    return made;
}

outbox::row make_tombstone(const v1::InboxState& purged, event_id id, const trace::context& cause)
{
    auto made =
        make_event_row(topics::inbox_state, facts_of(purged, "inbox", id, id.value().time()),
                       std::string(), cause);
    made.message.is_tombstone = true;
    made.message.headers.emplace_back("inbox_version", std::to_string(purged.version()));
    made.sequence = purged.version();
    return made;
}

outbox::row make_row(const plans::account_state& state, event_id id, const trace::context& cause)
{
    auto made = make_event_row(
        topics::account_state,
        {"gateway", state.account.text(), state.account.text(),
         accounts::v1::AccountState::descriptor()->full_name(), id, id.value().time()},
        state.is_deleted ? std::string() : plans::to_proto(state).SerializeAsString(), cause);
    made.message.is_tombstone = state.is_deleted;
    if (state.is_deleted)
        made.message.headers.emplace_back(tombstone_version, std::to_string(state.version));
    made.sequence = state.version;
    return made;
}

result<envelope> read_envelope(const kafka::record& record)
{
    envelope read;
    const auto id = record.header("ce_id");
    if (!id)
        return failure{errc::invalid_argument, "the header ce_id is missing"};
    const auto parsed = event_id::parse(*id);
    if (!parsed)
        return failure{errc::invalid_argument, "the header ce_id is no UUID: " + quote(*id)};
    if (parsed->value().version() != 7)
        return failure{errc::invalid_argument,
                       "the header ce_id is no version 7 UUID: " + quote(*id)};
    read.id = *parsed;
    read.type = std::string(record.header("ce_type").value_or(record.topic));
    const auto time = parse_iso8601(record.header("ce_time").value_or(""));
    read.time = time.value_or(parsed->value().time());
    if (const auto parent = record.header("traceparent"))
        read.parent = trace::traceparent::parse(*parent);
    return read;
}

result<v1::EmailReceived> read_email_received(const kafka::record& record)
{
    auto message = read_message<v1::EmailReceived>(record);
    if (!message)
        return message;
    for (const auto& checked :
         {require_id<email_id>(message->email_id()), require_id<inbox_id>(message->inbox_id()),
          require_id<account_id>(message->account_id())})
        if (!checked)
            return checked.error();
    return message;
}

result<v1::InboxCreated> read_inbox_created(const kafka::record& record)
{
    auto message = read_message<v1::InboxCreated>(record);
    if (!message)
        return message;
    for (const auto& checked :
         {require_id<inbox_id>(message->inbox_id()), require_id<account_id>(message->account_id())})
        if (!checked)
            return checked.error();
    return message;
}

result<v1::InboxExpired> read_inbox_expired(const kafka::record& record)
{
    auto message = read_message<v1::InboxExpired>(record);
    if (!message)
        return message;
    for (const auto& checked :
         {require_id<inbox_id>(message->inbox_id()), require_id<account_id>(message->account_id())})
        if (!checked)
            return checked.error();
    return message;
}

result<webhooks::v1::FeedPosition> read_feed_activity(const kafka::record& record)
{
    auto message = read_message<webhooks::v1::FeedPosition>(record);
    if (!message)
        return message;
    const auto checked = require_id<account_id>(message->account_id());
    if (!checked)
        return checked.error();
    return message;
}

result<plans::account_state> read_account_state(const kafka::record& record)
{
    if (record.is_tombstone) {
        const auto account = account_id::parse(record.key);
        if (!account)
            return account.error();
        plans::account_state deleted;
        deleted.account = *account;
        deleted.is_deleted = true;
        // A tombstone written before they carried a version counts as newer than every state.
        deleted.version = INT64_MAX;
        if (const auto text = record.header(tombstone_version)) {
            const auto [end, error] =
                std::from_chars(text->data(), text->data() + text->size(), deleted.version);
            if (error != std::errc{} || end != text->data() + text->size())
                return failure{errc::invalid_argument, "the header " +
                                                           std::string(tombstone_version) +
                                                           " is no number: " + quote(*text)};
        }
        return deleted;
    }
    const auto message = read_message<accounts::v1::AccountState>(record);
    if (!message)
        return message.error();
    return plans::from_proto(*message);
}

kafka::message make_dead_letter(const kafka::record& record, std::string_view consumer,
                                std::string_view reason)
{
    kafka::message dead_letter;
    dead_letter.topic = dead_letter_topic(record.topic);
    dead_letter.key = record.key;
    dead_letter.value = record.value;
    dead_letter.is_tombstone = record.is_tombstone;
    dead_letter.headers = record.headers;
    dead_letter.headers.emplace_back("dead_letter_reason", std::string(take_bytes(reason, 500)));
    dead_letter.headers.emplace_back("dead_letter_source", record.topic + "/" +
                                                               std::to_string(record.partition) +
                                                               "/" + std::to_string(record.offset));
    dead_letter.headers.emplace_back("dead_letter_consumer", std::string(consumer));
    return dead_letter;
}

result<kafka::message> make_replay(const kafka::record& dead_letter)
{
    if (!dead_letter.topic.ends_with(dead_letter_suffix))
        return failure{errc::invalid_argument, dead_letter.topic + " is no topic of dead letters"};
    kafka::message event;
    event.topic = dead_letter.topic.substr(0, dead_letter.topic.size() - dead_letter_suffix.size());
    event.key = dead_letter.key;
    event.value = dead_letter.value;
    event.is_tombstone = dead_letter.is_tombstone;
    for (const auto& header : dead_letter.headers)
        if (!header.first.starts_with(dead_letter_headers))
            event.headers.push_back(header);
    return event;
}

kafka::message make_backfill(outbox::row event, std::string to_topic)
{
    auto again = std::move(event.message);
    again.topic = std::move(to_topic);
    std::erase_if(again.headers, [](const auto& header) {
        return header.first == "traceparent" || header.first == "tracestate";
    });
    again.headers.emplace_back("ce_backfill", "true");
    return again;
}

} // namespace tempinbox::events
