#pragma once

#include "common/core/time.hpp"
#include "html/visible_page.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::mime {

// Limits of the view; the stored message is never cut.
struct view_limits
{
    std::size_t header_bytes = 256 * 1024;
    std::size_t header_fields = 1'000;
    std::size_t parts = 1'000;
    std::size_t depth = 100;
    std::size_t addresses = 1'000;
    std::size_t text_bytes = 2 * 1024 * 1024; // each of text and html
    bool with_page = false;                   // whether codes and links will be searched
    bool with_digests = false;                // of attachments
    std::chrono::milliseconds time{2'000}; // parts past it stay unread, with the defect "deadline"
};

struct email_address
{
    std::string name;    // decoded, may be empty
    std::string address; // as written

    bool operator==(const email_address&) const = default;
};

struct attachment
{
    std::string id;           // stable for a stored message: the part's path, such as "2.1"
    std::string filename;     // safe to show: basename, no control or bidi characters, ≤ 255 bytes
    std::string content_type; // lower case type/subtype
    std::optional<std::string> content_id;
    bool is_inline = false;
    std::int64_t size = 0; // decoded bytes
    // Of the decoded bytes, in hex, with `with_digests`. Absent for messages within messages once
    // four times the bytes of the mail were digested, so that the work stays linear.
    std::optional<std::string> sha256;
};

// What lists, events, rules and the search for codes need; computed once, before the commit.
struct summary
{
    std::string from; // the first address of From; empty if there is none
    std::string from_name;
    std::string subject; // decoded, one line
    std::optional<std::string> message_id;
    std::string preview; // ≤ 200 characters of the text
    int attachment_count = 0;
    int received_hops = 0;
};

// The whole view of a message. Every string is valid UTF-8 without NUL.
struct view
{
    mime::summary summary;
    std::vector<email_address> to, cc, bcc, reply_to;
    std::optional<time_point> date;
    std::vector<std::pair<std::string, std::string>> headers; // decoded, in order
    // The parts that are no attachments, one below the other; derived if these are html alone.
    // format=flowed comes as whole paragraphs.
    std::optional<std::string> text;
    // Decoded only, otherwise as sent, but for plain text among it; in html and text a line ends in
    // CRLF.
    std::optional<std::string> html;
    bool is_text_derived = false;
    // What a person sees of `html`: its own `html`, `text` and `shows_text`. With `with_page`, or
    // if the text was derived.
    std::optional<html::visible_page> page;
    std::vector<attachment> attachments; // inline parts too
    std::vector<std::string> defects;    // such as "no_header", "missing_end_boundary"
};

// Accepts any bytes: never throws for their content; linear in their length.
view read_view(std::string_view raw, const view_limits& limits = {});

// The decoded bytes of one attachment; absent if there is no such part.
std::optional<std::string> read_attachment(std::string_view raw, std::string_view attachment_id,
                                           const view_limits& limits = {});
} // namespace tempinbox::mime
