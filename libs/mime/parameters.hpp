#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace tempinbox::mime {

// Those of the named parameters that a structured field has, in one pass, as UTF-8; of duplicates
// the first. RFC 2231 forms override the plain one: `name*=charset'language'text`, then pieces
// `name*0`, `name*1*` … joined in order of their numbers, up to the first gap. An encoded word,
// which RFC 2047 5 forbids here, is decoded all the same.
std::map<std::string_view, std::string>
read_parameters(std::string_view field, std::initializer_list<std::string_view> names);

} // namespace tempinbox::mime
