#pragma once

#include "common/core/time.hpp"
#include "common/faults/step.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::faults {

// What was counted of a step. Whoever evaluates holds all counts of the inbox for itself, so that
// of several replicas no two play the same use.
struct count
{
    std::int64_t seen = 0;           // uses; with `since`, those of the minute
    std::int64_t used = 0;           // in how many the step was played
    std::optional<time_point> since; // the first use, or that of the minute

    friend bool operator==(const count&, const count&) = default;
};

// Of a step that counts recipients by themselves, the count without a recipient is that of all:
// `seen` is how many recipients are counted.
struct count_key
{
    std::size_t step = 0;
    std::string recipient; // folded; empty: of all

    auto operator<=>(const count_key&) const = default;
};

using counts = std::map<count_key, count>;

// What a transaction has settled of a step: it uses a step once, at however many recipients.
struct decision
{
    count_key key;
    bool is_played = false;
};

// What comes to a stage: the recipient of RCPT, at `data` and `end` all those in the inbox, before
// that none.
struct evaluation_request
{
    stage at = stage::rcpt;
    // Without one the message may be for others too: no step closes the connection at `rcpt`.
    bool has_login = false;
    std::vector<std::string> recipients;
    std::vector<decision> decided; // earlier in this transaction
};

struct evaluation_result
{
    std::optional<std::size_t> step; // which is played
    std::vector<decision> decided;   // now
    bool is_uncounted = false;       // a recipient was not counted, since too many are
};

// How a recipient is named in counts.
std::string fold_recipient(const std::string& recipient);

// The counts that `evaluate` may come to; it uses no others.
std::vector<count_key> keys_of(const std::vector<step>& steps, const evaluation_request& request);

// The first step that fits the stage and a recipient and is not used up is played. Counts those
// that it came to in `counted`.
evaluation_result evaluate(const std::vector<step>& steps, counts& counted,
                           const evaluation_request& request, time_point now);

} // namespace tempinbox::faults
