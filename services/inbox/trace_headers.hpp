#pragma once

#include "mailbox/types.hpp"

#include <string>

namespace tempinbox::inbox {

// The trace lines of the final delivery (RFC 5321 4.4), to stand in front of a message that is
// downloaded: Return-Path and our Received, each ended by CRLF. What other inboxes got the message
// is never told.
std::string trace_headers(const mailbox::stored_email& email);

} // namespace tempinbox::inbox
