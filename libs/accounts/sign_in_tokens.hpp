#pragma once

#include "common/core/secret.hpp"

#include <string>
#include <string_view>

namespace tempinbox::accounts {

// A session, and the link that sets a password: 256 random bits as text. Only a digest is stored.
secret make_session_token();
std::string session_digest(std::string_view token);

// Eight digits. Stored as a digest together with the address it was sent to, which is in lower
// case.
secret make_sign_up_code();
std::string sign_up_code_digest(std::string_view email, std::string_view code);

} // namespace tempinbox::accounts
