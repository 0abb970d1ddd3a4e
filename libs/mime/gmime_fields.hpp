#pragma once

#include "common/core/time.hpp"
#include "mime/view.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mime {

// The structured fields whose grammar is GMime's business. Values come unfolded, in UTF-8 and without NUL; nothing here throws
// for what they say.

struct content_type
{
    std::string type = "text/plain"; // lower case type/subtype
    std::string charset;
    std::string boundary;
    std::string name;
    std::string start; // RFC 2387 3.2
    bool is_flowed = false;
    bool deletes_space = false; // RFC 3676 4.2
    bool is_broken = false;
};

content_type parse_content_type(const std::string& value);

struct disposition
{
    std::string kind; // lower case: "attachment", "inline" …
    std::string filename;
};

disposition parse_disposition(const std::string& value);

// Groups are flattened. What cannot be parsed is kept as one address.
std::vector<mailbox_address> parse_addresses(const std::string& value, std::size_t most);

std::optional<time_point> parse_date(const std::string& value);

} // namespace tempinbox::mime
