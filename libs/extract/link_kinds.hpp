#pragma once

#include <string_view>

namespace tempinbox::extract {

// The text says only that there is a link: `here`, `click here`, `continue`, an address, nothing at
// all.
bool is_pointer(std::string_view text);

// The purpose of a link: "verify" (confirm an address, accept an invitation, sign in by the link
// itself), "reset" (a password), "unsubscribe" (or change what mail comes) or "other". The link's
// text decides before its URL; the words around it count only if the text is a pointer.
const char* kind_of_link(std::string_view url, std::string_view text,
                         std::string_view words_around);

} // namespace tempinbox::extract
