#pragma once

#include "common/rules/rules.hpp"

#include <string_view>

namespace tempinbox::ctl {

// `subject contains invoice`: field, operator, and everything after it as the value. The failure
// names what is allowed.
result<rules::condition> parse_condition(std::string_view text);

} // namespace tempinbox::ctl
