#pragma once

#include "common/core/secret.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::credentials {

// Characters of the alphabet, each as likely; it has 2 to 248 of them.
std::string random_text(std::size_t count, std::string_view alphabet);

// A secret that a program makes: the prefix, 32 random base62 characters (190 bits), 6 characters
// of checksum over all before them. The checksum lets a mistyped or invented one be refused without
// a look-up; only the SHA-256 is ever stored.
secret make_checked_token(std::string_view prefix);

// Whether the text has the form of such a secret and its checksum is right.
bool is_checked_token(std::string_view text, std::string_view prefix);

} // namespace tempinbox::credentials
