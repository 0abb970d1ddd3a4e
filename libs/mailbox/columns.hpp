#pragma once

#include "extract/codes.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

// Conversions between mailbox columns that are no plain scalars and their text form.

// An array of text, as PostgreSQL writes one dimension without NULL; throws on anything else.
std::vector<std::string> from_array(std::string_view literal);

// A parameter of type uuid[].
template <class Ids>
std::string to_id_array(const Ids& ids)
{
    std::string literal = "{";
    for (const auto& id : ids) {
        if (literal.size() > 1)
            literal += ',';
        literal += id.text();
    }
    return literal + "}";
}

// Two parameters of type uuid[]: the first and the second ids of the pairs.
template <class Pairs>
std::pair<std::string, std::string> to_id_arrays(const Pairs& pairs)
{
    std::vector<typename Pairs::value_type::first_type> firsts;
    std::vector<typename Pairs::value_type::second_type> seconds;
    for (const auto& [first, second] : pairs) {
        firsts.push_back(first);
        seconds.push_back(second);
    }
    return {to_id_array(firsts), to_id_array(seconds)};
}

// jsonb columns.
std::string to_json(const std::map<std::string, std::string>& metadata);
std::map<std::string, std::string> metadata_from_json(std::string_view json);

// [{"value","score","part","offset"}] and [{"url","text","kind"}]
std::string to_json(const std::vector<extract::code>& codes);
std::string to_json(const std::vector<extract::link>& links);
std::vector<extract::code> codes_from_json(std::string_view json);
std::vector<extract::link> links_from_json(std::string_view json);

// A parameter that is NULL if the value is absent; the value must outlive the statement.
inline const char* or_null(const std::optional<std::string>& value)
{
    return value ? value->c_str() : nullptr;
}

} // namespace tempinbox::mailbox
