#pragma once

#include "mail-ingest/smtp/command.hpp"
#include "mail-ingest/smtp/data_scanner.hpp"
#include "mail-ingest/smtp/incoming_message.hpp"

#include <string_view>

namespace tempinbox::smtp {

// Reads the octets of one BDAT chunk after the other (RFC 3030 2). The octets follow the command
// whatever the reply, so those of a refused chunk are read too, and skipped.
class chunk_machine
{
public:
    explicit chunk_machine(incoming_message& message) : message_(message) {}

    // The first chunk of a message follows.
    void begin_message() { newlines_ = {}; }
    void begin(const chunk& given);
    // `refusal` is the reply to say at the chunk's end; it must outlive the chunk.
    void begin_refused(const chunk& given, std::string_view refusal);
    // Takes what it can of `input`; returns `end` once all octets of the chunk were read.
    message_step resume(std::string_view& input, incoming_message::time_point now);

    bool is_last() const { return chunk_.is_last; }
    // Empty if the chunk is received.
    std::string_view refusal() const { return refusal_; }
    // Call this after the last chunk.
    bool has_bare_newline() const { return newlines_.has_bare_newline(); }

private:
    incoming_message& message_;
    chunk chunk_; // its size: the octets not read yet
    std::string_view refusal_;
    newline_policy newlines_;
};

} // namespace tempinbox::smtp
