#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"

#include <string>

namespace tempinbox::cli {

// Opens the address with the desktop's program for it (`xdg-open`, on macOS `open`). A failure says
// why there is none.
awaitable<result<void>> open_in_browser(std::string url);

} // namespace tempinbox::cli
