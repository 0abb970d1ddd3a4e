#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::http {

// Percent-decoding (RFC 3986 2.1). nullopt for a broken escape, or if the result is not valid UTF-8
// or holds NUL. `plus_is_space` is the form encoding that queries use.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

// `a=1&b=2` decoded, in order; empty pairs are left out. nullopt if a part cannot be decoded.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

// Path and query of a request target in origin-form or absolute-form (RFC 9112 3.2); of the other
// forms only `*` is returned, else nullopt.
std::optional<std::string_view> origin_form(std::string_view target);

} // namespace tempinbox::http
