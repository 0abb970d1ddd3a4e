#include "mailbox/past_events.hpp"

#include "common/events/events.hpp"
#include "common/postgres/column.hpp"
#include "common/rpc/timestamp.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/inbox_state_rows.hpp"
#include "mailbox/ingest_repository.hpp"

namespace tempinbox::mailbox {

using postgres::column;

std::string past_email_columns()
{
    return R"(account_id, email_id, inbox_id, sequence, from_address, subject,
       rcpt_to, mailbox.to_micros(received_at) AS received,
       size_bytes, attachment_count, jsonb_array_length(codes) > 0 AS has_code)";
}

std::string past_inbox_columns()
{
    return R"(account_id, inbox_id, email_address, is_live, state_version,
       mailbox.to_micros(created_at) AS created, mailbox.to_micros(expires_at) AS expires,
       mailbox.to_micros(expired_at) AS expired,
       coalesce(expiry_reason = 'ttl', false) AS is_by_time,
       mailbox.to_micros(first_expires_at) AS first_expires, created_event_id, expired_event_id)";
}

// As mail-ingest made it (services/mail-ingest/ingest/reading.cpp), byte for byte.
outbox::row make_past_email_event(const pqxx::row& row)
{
    events::v1::EmailReceived event;
    event.set_email_id(column<std::string>(row, "email_id"));
    event.set_inbox_id(column<std::string>(row, "inbox_id"));
    event.set_account_id(column<std::string>(row, "account_id"));
    event.set_from(column<std::string>(row, "from_address"));
    event.set_subject(column<std::string>(row, "subject"));
    for (auto& recipient : from_array(row["rcpt_to"].c_str()))
        event.add_to(std::move(recipient));
    *event.mutable_received_at() = rpc::to_timestamp(column<time_point>(row, "received"));
    event.set_size_bytes(column<std::int64_t>(row, "size_bytes"));
    event.set_attachment_count(column<int>(row, "attachment_count"));
    event.set_has_code(column<bool>(row, "has_code"));
    new_delivery delivery;
    delivery.event = events::make_row(event, trace::context(trace::traceparent::make()));
    return ingest_repository::event_of(delivery, column<std::int64_t>(row, "sequence"));
}

std::optional<outbox::row> make_past_created_event(const pqxx::row& row)
{
    const auto id = column<std::optional<event_id>>(row, "created_event_id");
    if (!id)
        return std::nullopt;
    auto made = read_inbox_of_event(row);
    made.expires_at = column<time_point>(row, "first_expires");
    return make_created_event(made, *id);
}

std::optional<outbox::row> make_past_expired_event(const pqxx::row& row)
{
    const auto id = column<std::optional<event_id>>(row, "expired_event_id");
    if (!id)
        return std::nullopt;
    auto ended = read_ended_inbox(row);
    ended.event = *id;
    return make_expired_event(ended);
}

} // namespace tempinbox::mailbox
