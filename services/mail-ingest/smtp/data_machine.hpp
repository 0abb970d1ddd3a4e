#pragma once

#include "mail-ingest/smtp/data_scanner.hpp"
#include "mail-ingest/smtp/incoming_message.hpp"

#include <string>
#include <string_view>

namespace tempinbox::smtp {

// Reads the message after DATA (RFC 5321 4.1.1.4) up to its final dot; transparency dots are
// removed.
class data_machine
{
public:
    explicit data_machine(incoming_message& message) : message_(message) {}

    // A message begins.
    void begin() { scanner_ = {}; }
    // Takes what it can of `input`; never returns `end` before the final dot was read.
    message_step resume(std::string_view& input, incoming_message::time_point now);
    bool has_bare_newline() const { return scanner_.has_bare_newline(); }
    // Frees the memory that the message took.
    void release() { scratch_ = {}; }

private:
    incoming_message& message_;
    data_scanner scanner_;
    std::string scratch_;
};

} // namespace tempinbox::smtp
