#pragma once

#include "mailbox/types.hpp"

#include <string>

namespace tempinbox::inbox {

// The trace fields of final delivery (RFC 5321 4.4), to be put before a downloaded message:
// Return-Path and our Received, each ended by CRLF. They never name other inboxes that got the
// message.
std::string trace_headers(const mailbox::stored_email& email);

} // namespace tempinbox::inbox
