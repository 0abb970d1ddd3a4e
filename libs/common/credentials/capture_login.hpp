#pragma once

#include "common/core/secret.hpp"

#include <string>
#include <string_view>

namespace tempinbox::credentials {

// The login of a capture inbox: a user and a password, both random and of [A-Za-z0-9_] alone, since
// they stand in addresses, .env and compose files.

// `cap_` and 12 characters of [a-z0-9] (62 bits). It tells neither inbox nor account.
std::string make_capture_user();
bool is_capture_user(std::string_view text);

// `tic_`, 32 random base62 characters (190 bits) and 6 characters of checksum.
secret make_capture_password();
// Whether the text has a password's form and its checksum is right.
bool is_capture_password(std::string_view text);

// What is stored and compared: 32 bytes.
std::string capture_password_digest(std::string_view password);

} // namespace tempinbox::credentials
