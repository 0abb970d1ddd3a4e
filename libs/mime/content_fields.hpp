#pragma once

#include "mime/transfer.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::mime {

// Parsers of the fields that describe a part. Values must be unfolded, in UTF-8 and without NUL;
// nothing here throws for their content.

struct content_type
{
    std::string type = "text/plain"; // lower case type/subtype
    std::string charset;
    std::string boundary;
    std::string name;
    std::string start;      // RFC 2387 3.2
    std::string smime_type; // RFC 8551 3.2.2
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

// Content-Transfer-Encoding (RFC 2045 6.1), where quotes, comments and more words behind the first
// occur in practice. Absent if the encoding is unknown.
std::optional<encoding> parse_encoding(std::string_view value);

} // namespace tempinbox::mime
