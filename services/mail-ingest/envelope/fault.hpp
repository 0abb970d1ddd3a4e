#pragma once

#include <chrono>
#include <string>

namespace tempinbox::smtp {

// What an inbox plays on purpose, in place of the ordinary reply or ahead of it.
struct fault
{
    std::string reply;          // a 4xx or 5xx; empty: the ordinary one, unless it is a cut
    bool is_cut = false;        // the connection is closed without a reply
    bool keeps_message = false; // of a cut: the message is stored first
    std::chrono::milliseconds delay{0};

    // Nothing is taken.
    bool refuses() const { return !reply.empty() || (is_cut && !keeps_message); }
    // RFC 5321 3.8: a 421 ends the connection.
    bool closes() const { return is_cut || reply.starts_with("421"); }
};

} // namespace tempinbox::smtp
