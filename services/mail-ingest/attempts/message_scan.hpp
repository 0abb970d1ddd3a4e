#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::mail_ingest {

// What a message that arrives says of itself, whatever becomes of it: its field Message-ID, whether
// it was sent on by a mail server, and what tells its content from others'. Holds one field of the
// header, at most.
class message_scan
{
public:
    static constexpr std::size_t max_field = 2'000;
    static constexpr std::size_t max_header_lines = 10'000; // the rest counts as body
    static constexpr std::size_t max_body = 64 * 1024;      // that counts for `content`

    // Parts of the message, in order.
    void append(std::string_view bytes);

    // The value of the field, as it was when its line was over; empty if there is none.
    const std::string& message_id() const { return message_id_; }
    // RFC 5321 4.4: a mail server that sends a message on adds a field Received.
    bool is_relayed() const { return is_relayed_; }
    // Equal for messages of equal subject, size of the body and beginning of the body.
    std::uint64_t content() const;

private:
    std::string_view take_header(std::string_view bytes);
    void end_line();
    void end_field();
    void take_body(std::string_view bytes);

    bool is_in_header_ = true;
    std::size_t header_lines_ = 0;
    std::string line_;  // up to what was received of it
    std::string field_; // its lines joined
    std::string message_id_;
    bool is_relayed_ = false;
    std::uint64_t body_size_ = 0;
    std::uint64_t subject_hash_ = 0;
    std::uint64_t body_hash_ = 0;
};

} // namespace tempinbox::mail_ingest
