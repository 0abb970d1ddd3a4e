#pragma once

#include "common/outbox/outbox.hpp"

#include <pqxx/pqxx>

#include <optional>
#include <string>

// Events made again of the rows that they reported: with the ids, times and values that they had,
// and new traceparents. For backfills (backfill.hpp) and repairs (event_verification.hpp).
namespace tempinbox::mailbox {

// The columns of mailbox.emails and of mailbox.inboxes that the functions below read; those of an
// inbox are also what make_current_state_event reads.
std::string past_email_columns();
std::string past_inbox_columns();

outbox::row make_past_email_event(const pqxx::row& row);
// Absent if the inbox is of an earlier release, which kept no ids of its events.
std::optional<outbox::row> make_past_created_event(const pqxx::row& row);
std::optional<outbox::row> make_past_expired_event(const pqxx::row& row); // of one that is not live

} // namespace tempinbox::mailbox
