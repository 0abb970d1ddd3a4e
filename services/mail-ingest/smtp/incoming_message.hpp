#pragma once

#include "mail-ingest/smtp/limits.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace tempinbox::smtp {

// What a data or chunk machine did with its input.
struct message_step
{
    enum class kind {
        read,   // there is no input left: read more
        resume, // call again: nothing is to be done
        append, // append `bytes` to the message; they are valid until the next call
        drop,   // discard the message: it will be refused
        end     // of the message, or of the chunk
    };

    kind what = kind::resume;
    std::string_view bytes;
};

// The size and the pace of the message under way, by DATA or BDAT. Passes on only bytes of a
// message that may still be stored.
//
//   phase       | event                             | next
//   whole       | lose                              | lost
//   whole, lost | more than the allowed bytes       | oversize
//   any         | more than twice the allowed bytes | excessive
//   any         | begin                             | whole
class incoming_message
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit incoming_message(const limits& bounds) : limits_(bounds) {}

    void begin(std::uint64_t allowed_bytes, time_point now);
    // Counts `bytes` of the message, for which the client sent `received` bytes.
    message_step keep(std::string_view bytes, std::size_t received, time_point now);
    // Counts bytes for the pace only: those of a refused chunk.
    void skip(std::size_t received) { window_bytes_ += received; }
    // There was no room for all of the message.
    void lose();

    bool is_lost() const { return phase_ == phase::lost; }
    bool is_too_large() const { return phase_ >= phase::oversize; }
    bool is_excessive() const { return phase_ == phase::excessive; }
    std::uint64_t size() const { return size_; }

    time_point start() const { return start_; }
    // Until when the rest of an oversize message is read; the latest time for another message.
    time_point oversize_deadline() const;
    // When the pace is checked next.
    time_point window_deadline() const;
    // Checks the pace since the last check, and begins a new window.
    bool is_too_slow(time_point now);

private:
    enum class phase {
        whole,
        lost,     // there was no room for all of it
        oversize, // the rest is read, not kept
        excessive // the session must close
    };

    const limits& limits_;
    phase phase_ = phase::whole;
    std::uint64_t allowed_bytes_ = 0;
    std::uint64_t size_ = 0;
    time_point start_;
    time_point oversize_since_; // from phase oversize on
    time_point window_start_;
    std::uint64_t window_bytes_ = 0;
};

} // namespace tempinbox::smtp
