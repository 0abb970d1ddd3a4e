#pragma once

#include "common/core/ids.hpp"
#include "common/faults/step.hpp"
#include "common/trace/traceparent.hpp"
#include "mail-ingest/envelope/fault.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::smtp {

// A recipient whose RCPT was answered with 250.
struct recipient
{
    account_id account;
    inbox_id inbox;
    std::string as_given;
    std::string domain; // lower case, A-labels; empty for the bare postmaster
    std::uint64_t max_message_bytes = 0;
    faults::stage_set fault_stages; // at which its inbox may play one
    bool is_watched = false;        // what its senders do is recorded
};

// Who sends what to whom: everything known of a transaction except the message.
struct envelope
{
    std::string mail_from; // as given; empty: the null sender
    std::vector<recipient> recipients;
    std::string helo;
    std::optional<std::string> login; // the user
    std::optional<std::string> tls;   // the TLS version
    std::optional<std::uint64_t> declared_size;
    bool has_utf8 = false;
    bool is_pipelined = false; // MAIL or RCPT came with the next command (RFC 2920)
    trace::context trace;      // of the transaction's span; invalid without tracing

    bool goes_to(inbox_id inbox) const
    {
        return std::any_of(recipients.begin(), recipients.end(),
                           [&](const recipient& one) { return one.inbox == inbox; });
    }
    // With a login all of it is for one inbox, whose senders are watched.
    bool is_watched() const
    {
        return login.has_value() ||
               std::any_of(recipients.begin(), recipients.end(),
                           [](const recipient& one) { return one.is_watched; });
    }
    bool may_meet_fault(faults::stage at) const
    {
        return std::any_of(recipients.begin(), recipients.end(),
                           [&](const recipient& one) { return one.fault_stages.has(at); });
    }
};

// The result of a recipient lookup.
enum class recipient_status {
    live,
    unknown,     // never an inbox, or one whose quarantine is over
    quarantined, // was an inbox; answered as unknown, but not held against the sender
    foreign,     // not a domain of ours
    full,
    full_for_now, // its oldest mail is about to go
    over_rate,
    unavailable // the lookup failed or took too long
};

struct recipient_result
{
    recipient_status status = recipient_status::unavailable;
    account_id account; // with `inbox`: whose a live, full or quarantined address is
    inbox_id inbox;
    std::uint64_t max_message_bytes = 0;
    bool is_slowed = false;           // the client's address asked for too many unknown recipients
    faults::stage_set fault_stages;   // of a live inbox
    std::optional<smtp::fault> fault; // that it plays at RCPT
    bool is_catch_all = false;        // the inbox that takes what no other does
    bool is_watched = false;          // what its senders do is recorded
};

// What became of a message.
enum class message_status {
    stored,
    gone,         // all its inboxes have ended
    full,         // all its inboxes have ended or are full, and one is full
    full_for_now, // the same, and the oldest mail of one is about to go
    looping,      // too many hops, or this server had it before
    too_large,    // by the limits known at the end of the message
    unstorable,   // PostgreSQL refuses its data, now and later
    overloaded,   // no memory or disk to take it at present
    fault,        // its inboxes refuse it on purpose
    unavailable   // not committed, or the outcome is unknown at the deadline
};

struct message_result
{
    message_status status = message_status::unavailable;
    std::string id;                   // of the email in the first recipient's inbox
    std::optional<smtp::fault> fault; // which refuses the message, or comes after it was stored
};

} // namespace tempinbox::smtp
