#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::config {

// The known word nearest to a mistyped one; empty if none is near (an edit distance of at most a
// third of its length).
std::string closest(std::string_view mistyped, const std::vector<std::string>& known);

} // namespace tempinbox::config
