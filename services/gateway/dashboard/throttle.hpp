#pragma once

#include "accounts/sign_in_repository.hpp"
#include "common/http/message.hpp"

#include <string>

namespace tempinbox::gateway {

// The subjects for which failed attempts are counted. `address` comes from client_prefix.
accounts::attempt_subject sign_ins_of_account(const std::string& email);
accounts::attempt_subject sign_ins_of_address(const std::string& address);
// The response reveals that an email address is taken, so nobody may test long lists of them.
accounts::attempt_subject taken_addresses_of(const std::string& address);
accounts::attempt_subject accounts_of_address(const std::string& address);
accounts::attempt_subject resets_of_address(const std::string& address);
accounts::attempt_subject emails_to(const std::string& email);

// 429 with Retry-After.
http::response too_many_attempts(const accounts::attempt_status& status);

} // namespace tempinbox::gateway
