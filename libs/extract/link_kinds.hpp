#pragma once

#include <string_view>

namespace tempinbox::extract {

// Says only that there is a link: `here`, `click here`, `continue`, an address, nothing at all.
bool is_pointer(std::string_view text);

// What a link is for: "verify" (confirm an address, accept an invitation, sign in by the link
// itself), "reset" (a password), "unsubscribe" (or change what mail comes) or "other". What the
// link says decides before its URL does; the words around it are asked where it is a pointer only.
const char* kind_of_link(std::string_view url, std::string_view text,
                         std::string_view words_around);

} // namespace tempinbox::extract
