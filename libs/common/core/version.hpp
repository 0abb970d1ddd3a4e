#pragma once

#include <string_view>

namespace tempinbox {

// The content of the file VERSION, such as `0.2.0`, or `0.2.0-dev` before that is released. It is
// compiled into one object file, so that another version builds nothing else anew.
std::string_view version();

} // namespace tempinbox
