#pragma once

#include "cli/session.hpp"
#include "common/async/deadline.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::cli {

// What an email must be like.
struct criteria
{
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> subject;
    bool has_code = false;
    bool expects_none = false;
};

// How a wait ended.
struct wait_result
{
    enum class outcome { matched, timeout };

    outcome ended = outcome::timeout;
    json::value whole; // of the last response
    // Only if matched.
    json::value email() const { return whole["email"]; }
};

// The options that say what an email must be like, and how long to wait; and what they say.
std::vector<option> criteria_options();
std::vector<option> wait_options();
criteria read_criteria(const arguments& given);
std::chrono::seconds read_timeout(const arguments& given);
// The longest single request unless the user says another; many proxies end one at 60 s.
constexpr std::chrono::seconds standard_hold{55};
std::chrono::seconds read_hold(const arguments& given, std::chrono::seconds standard);
// Where --after says that the wait begins: a sequence, or `latest`, which asks the inbox.
awaitable<result<std::int64_t>> read_position(session& working, std::string inbox, arguments given);

// `subject contains "code", with a code`; empty without any.
std::string describe(const criteria& wanted);

// One request that waits, of a wait that has so long left.
api_call wait_call(const std::string& inbox, const criteria& wanted, std::int64_t after,
                   std::chrono::seconds hold,
                   std::chrono::seconds left = std::chrono::seconds::max());

// Waits until the deadline, longer than one request can: each next one has the same `after`, so no
// email is missed in between. A cut connection or a busy service costs the wait nothing but time.
awaitable<result<wait_result>> wait_for_email(api_client& api, std::string inbox, criteria wanted,
                                              std::int64_t after, std::chrono::seconds hold,
                                              async::deadline until);

// Why nothing came, for people: the near misses, what the mail server refused, where to look.
awaitable<std::string> explain_timeout(api_client& api, std::string inbox, criteria wanted,
                                       wait_result ended, std::chrono::seconds timeout);

} // namespace tempinbox::cli
