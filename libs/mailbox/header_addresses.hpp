#pragma once

#include "mime/view.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mailbox {

// Whom the header of a mail names, within bounds: what is shown of it. The message has all.
struct header_addresses
{
    static constexpr std::size_t max_of_field = 100;
    // Of a name, and of an address: 64, at sign, 255 (RFC 5321 4.5.3.1).
    static constexpr std::size_t max_bytes = 320;

    std::vector<mime::email_address> to, cc, reply_to;

    bool operator==(const header_addresses&) const = default;
};

// The first addresses of each field, and the first bytes of each.
header_addresses take_addresses(const mime::view& view);

// Whom the mail reached, or says it did, without being named in To or Cc: addresses of the Bcc
// field, then of `recipients`, each once, compared without case. Within the bounds of a field, so
// at most max_of_field and one for each recipient.
std::vector<mime::email_address> hidden_recipients(const mime::view& view,
                                                   const std::vector<std::string>& recipients);

// The column mailbox.emails.header_addresses.
std::string to_json(const header_addresses& addresses);
header_addresses header_addresses_from_json(std::string_view json);

// Those of To alone, as lists and searches select them. Emails of earlier releases have them
// without names.
std::vector<mime::email_address> to_addresses_from_json(std::string_view json);

} // namespace tempinbox::mailbox
