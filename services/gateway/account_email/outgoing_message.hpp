#pragma once

#include "common/core/time.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// A message that the gateway itself sends: ASCII text, to one address.
struct outgoing_message
{
    std::string to;
    std::string subject;
    std::string text; // lines end with LF
};

// The messages there are.
outgoing_message sign_up_code_message(std::string address, std::string_view code);
outgoing_message account_exists_message(std::string address, const std::string& dashboard_url);
outgoing_message password_link_message(std::string address, const std::string& dashboard_url,
                                       const std::string& token);
// The message has the URL without its query, which may hold secrets.
outgoing_message webhook_disabled_message(std::string address, const std::string& dashboard_url,
                                          std::string_view webhook_url,
                                          const std::string& webhook_id, const std::string& reason);

// The message as RFC 5322 text with CRLF lines, as SMTP sends them. `id` is unique.
std::string to_rfc5322(const outgoing_message& sent, const std::string& from, std::string_view id,
                       time_point now);

// Whether an address can be written into a message and into SMTP as it is: ASCII, no quoting, and
// no character that would end it.
bool can_be_mailed(std::string_view address);

} // namespace tempinbox::gateway
