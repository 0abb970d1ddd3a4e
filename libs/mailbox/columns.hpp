#pragma once

#include "extract/codes.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mailbox {

// Conversions between mailbox columns that are no plain scalars and their text form.

// An array of text, as PostgreSQL writes one dimension without NULL; throws on anything else.
std::vector<std::string> from_array(std::string_view literal);

// jsonb columns.
std::string to_json(const std::map<std::string, std::string>& metadata);
std::map<std::string, std::string> metadata_from_json(std::string_view json);

// [{"value","score","part","offset"}] and [{"url","text","kind"}]
std::string to_json(const std::vector<extract::code>& codes);
std::string to_json(const std::vector<extract::link>& links);
std::vector<extract::code> codes_from_json(std::string_view json);
std::vector<extract::link> links_from_json(std::string_view json);

// The kinds alone: jsonb_path_query_array(links, '$[*].kind').
std::vector<std::string> link_kinds_from_json(std::string_view json);

// A parameter that is NULL if the value is absent; the value must outlive the statement.
inline const char* or_null(const std::optional<std::string>& value)
{
    return value ? value->c_str() : nullptr;
}

} // namespace tempinbox::mailbox
