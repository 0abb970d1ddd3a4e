#pragma once

#include "common/core/secret.hpp"

#include <string>
#include <string_view>

namespace tempinbox::accounts {

// A credential of the API: `ti_live_`, 32 random base62 characters (190 bits), 6 characters of
// checksum over all before them. The checksum lets a mistyped or invented key be refused without a
// look-up; only the SHA-256 is ever stored.
secret make_api_key();

// Whether the text has a key's form and its checksum is right.
bool is_well_formed_api_key(std::string_view text);

// What is stored and looked up: 32 bytes.
std::string api_key_digest(std::string_view key);

// What may be shown after creation: `ti_live_` and four characters.
std::string api_key_prefix(std::string_view key);

} // namespace tempinbox::accounts
