#pragma once

#include "html/visible_page.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::extract {

// A one-time code found in a mail.
struct code
{
    std::string value;
    double score = 0; // 0–1
    std::string part; // "subject", "text" or "html"
    int offset = 0;   // characters from the start of that part
};

// A link of a mail and what it is for.
struct link
{
    std::string url;
    std::string text;
    std::string kind; // "verify", "reset", "unsubscribe" or "other"
};

// Both search what a person sees of a mail: its page if that shows any text, else its text.

// One-time codes, likeliest first, at most 20. Linear time (RE2); searches the first 256 KiB that
// are seen. Years, prices, phone and tracking numbers are not codes.
std::vector<code> find_codes(std::string_view subject, const std::optional<std::string>& text,
                             const std::optional<html::visible_page>& page);

// http(s) links in the order they appear, each URL once, at most 200.
std::vector<link> find_links(const std::optional<std::string>& text,
                             const std::optional<html::visible_page>& page);

} // namespace tempinbox::extract
