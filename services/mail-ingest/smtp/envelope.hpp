#pragma once

#include "common/core/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::smtp {

// A RCPT that was answered with 250.
struct recipient
{
    account_id account;
    inbox_id inbox;
    std::string as_given;
    std::string domain; // lower case, A-labels; empty for the bare postmaster
    std::uint64_t max_message_bytes = 0;
};

// Who sends what to whom: everything known of a transaction beside the message.
struct envelope
{
    std::string mail_from; // as given; empty: the null sender
    std::vector<recipient> recipients;
    std::string helo;
    std::optional<std::string> tls; // protocol
    std::optional<std::uint64_t> declared_size;
    bool has_utf8 = false;

    bool goes_to(inbox_id inbox) const
    {
        return std::any_of(recipients.begin(), recipients.end(),
                           [&](const recipient& one) { return one.inbox == inbox; });
    }
};

// What the look-up of a recipient found.
enum class recipient_status {
    live,
    unknown,     // never was, or somebody else's past
    quarantined, // was an inbox; answered as unknown, but not held against the sender
    foreign,     // not a domain of ours
    full,
    over_rate,
    unavailable // nobody could say
};

struct recipient_result
{
    recipient_status status = recipient_status::unavailable;
    account_id account;
    inbox_id inbox;
    std::uint64_t max_message_bytes = 0;
    bool is_slowed = false; // the sender's address asked for too many unknown ones
};

// What became of a message.
enum class message_status {
    stored,
    gone,       // no inbox of it lives any more
    full,       // the same, and one is full
    looping,    // too many hops, or it came from here
    too_large,  // by the limits known at its end
    unstorable, // something in it that the database takes neither now nor later
    overloaded, // no room to take it now
    unavailable // not committed, or nobody knows in time
};

struct message_result
{
    message_status status = message_status::unavailable;
    std::string id; // of the email in the first recipient's inbox
};

} // namespace tempinbox::smtp
