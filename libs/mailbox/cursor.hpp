#pragma once

#include "common/core/errors.hpp"

#include <string>
#include <string_view>

namespace tempinbox::mailbox {

// A position in a list for clients to carry: opaque, and bound to its filter, so that it is refused
// with any other. `filter` names the list, its order and every condition; `position` is the key of
// the last row read.
std::string make_cursor(std::string_view filter, std::string_view position);

// The position; invalid_argument if `make_cursor` did not make the cursor with this filter.
result<std::string> read_cursor(std::string_view cursor, std::string_view filter);

} // namespace tempinbox::mailbox
