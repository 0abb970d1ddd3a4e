#pragma once

#include "common/core/time.hpp"

#include <string>
#include <string_view>

namespace tempinbox::mail {

// A message that the suite itself sends: ASCII text, to one address.
struct outgoing_message
{
    std::string to;
    std::string subject;
    std::string text; // lines end with LF
    // Of its Message-ID, for what may be sent twice; empty: a new one.
    std::string id = {};
};

// The message as RFC 5322 text with CRLF lines, as SMTP sends them. `id` is unique.
std::string to_rfc5322(const outgoing_message& sent, const std::string& from, std::string_view id,
                       time_point now);

// Whether an address can be written into a message and into SMTP as it is: ASCII, no quoting, and
// no character that would end it.
bool can_be_mailed(std::string_view address);

} // namespace tempinbox::mail
