#pragma once

#include "mailbox/attempt_repository.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace tempinbox::inbox {

using mailbox::stored_attempt;

// What a reply means to the sender (RFC 5321 4.2.1).
enum class outcome {
    accepted,
    deferred, // 4xx, or no reply at all: to be tried again
    refused   // 5xx: for good
};
outcome outcome_of(int code);

// Whom an attempt is for: sorted, each once.
using digests = std::vector<std::uint64_t>;
digests recipients_of(const mailbox::v1::Attempt& attempt);

// How it stands for each recipient of a message, after its attempts in the order of time.
class settled_recipients
{
public:
    // Who was accepted stays so. True for a recipient that is new.
    bool settle(std::uint64_t digest, outcome what);

    std::size_t size() const { return outcomes_.size(); }
    // Whether it stands so for one of them; `last` is how it does while none is known.
    bool is_any(outcome what, outcome last) const
    {
        return outcomes_.empty() ? last == what : counts_[static_cast<std::size_t>(what)] > 0;
    }
    // All of one are among the other's, or none is known.
    bool are_like(const digests& others) const;

private:
    std::size_t& count(outcome what) { return counts_[static_cast<std::size_t>(what)]; }

    std::map<std::uint64_t, outcome> outcomes_;
    std::array<std::size_t, 3> counts_{}; // of each outcome
};

// The attempts to send one message.
struct sent_message
{
    std::vector<std::size_t> attempts; // indexes; the oldest first
    bool is_ambiguous = false;         // other messages may be among them
};

// After a 5xx for all of its recipients a message that is not known by its Message-ID is taken to
// come again for so long.
inline constexpr std::chrono::hours max_refused_age{1};

// Tells messages apart, in the order of time. An attempt belongs to:
// - the message with its Message-ID;
// - if that is new: the oldest open message without one, of like sender, recipients and origin;
// - if it ended before its message was read, or has no Message-ID: the oldest open message of like
//   sender, recipients and origin, else one that was refused in the last hour, which is ambiguous;
// - else a message of its own.
//
// A message is open while a recipient is deferred. Senders are alike if they are equal, or unknown
// (AUTH); recipients if all of one are among the other's, or none is known (MAIL); the origin is
// the login, or the remote address without one. More than one choice is ambiguous.
// The attempts are given the oldest first; messages come in the order of their first attempts.
std::vector<sent_message> join_attempts(const std::vector<stored_attempt>& attempts);

} // namespace tempinbox::inbox
