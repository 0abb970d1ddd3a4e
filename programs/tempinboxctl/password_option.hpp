#pragma once

#include "common/core/errors.hpp"

#include <string>

namespace tempinbox::ctl {

// The hash that an account stores. `option_name` gave the password: for the failure if it is too
// short or too long, which does not show it.
result<std::string> hash_password(const std::string& password, const std::string& option_name);

} // namespace tempinbox::ctl
