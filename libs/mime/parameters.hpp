#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::mime {

// A parameter of a structured field that comes in the forms of RFC 2231: `name*=charset'language'text`, or in pieces `name*0`,
// `name*1*` … that are joined in the order of their numbers, up to the first that is missing. Absent where it does not; UTF-8.
std::optional<std::string> extended_parameter(std::string_view field, std::string_view name);

} // namespace tempinbox::mime
