#pragma once

#include "common/core/errors.hpp"

#include <string>
#include <string_view>

namespace tempinbox::mailbox {

// A place in a list, as clients carry it: opaque, and bound to the filter it was made for, so that
// it is refused with any other. `filter` names the list and every condition; `position` is the key
// of the last row looked at.
std::string make_cursor(std::string_view filter, std::string_view position);

// The position; invalid_argument for what was not made by `make_cursor` with this filter.
result<std::string> read_cursor(std::string_view cursor, std::string_view filter);

} // namespace tempinbox::mailbox
