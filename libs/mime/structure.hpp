#pragma once

#include "mime/content_fields.hpp"
#include "mime/header.hpp"
#include "mime/transfer.hpp"
#include "mime/view.hpp"

#include <chrono>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mime {

// One part of a message. Regions point into the message, or into `structure::decoded_entities`.
struct part
{
    std::string id; // its path: "1", "2.1"; empty for the root of a multipart message
    int parent = -1;
    int depth = 0;
    std::vector<field> fields;
    std::string_view body;
    content_type type;
    disposition placement;
    std::string content_id; // as received
    mime::encoding encoding = encoding::identity;
    int children = 0;
    bool is_multipart = false;  // or an opaque signature, which has one part
    bool is_message = false;    // an attached message; its root is the only child
    bool is_in_message = false; // inside an attached message
    bool is_opaque = false;     // deeper than the limit: one attachment, whatever it holds
};

struct structure
{
    std::deque<part> parts; // in the order in which they begin; the first is the root
    std::set<std::string> defects;
    std::deque<std::string> decoded_entities; // messages, and what opaque signatures are around
};

// The first field of that name; null if there is none.
const std::string_view* find_field(const part& of, std::string_view name);

// Reads the parts by RFC 2046 5.1 and RFC 5322, leniently, in one pass over the lines: linear, no
// recursion, bounded parts, depth and header blocks, whatever the bytes. Past the deadline the rest
// stays unread, with the defect "deadline".
structure read_structure(
    std::string_view raw, const view_limits& limits,
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max());

} // namespace tempinbox::mime
