#pragma once

#include <string_view>

namespace tempinbox::extract {

// What a link is for: "verify" (confirm an address, accept an invitation, sign in by the link itself), "reset" (a password),
// "unsubscribe" (or change what mail comes) or "other". What the link says decides before its URL does, and both before the words
// in front of it.
const char* kind_of_link(std::string_view url, std::string_view text, std::string_view words_before);

} // namespace tempinbox::extract
