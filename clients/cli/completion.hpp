#pragma once

#include "cli/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::cli {

// The script that completes commands, options and their fixed values in a shell: bash, zsh or fish.
// It asks the service nothing.
std::string completion_script(std::string_view shell, const std::vector<command>& commands);

} // namespace tempinbox::cli
