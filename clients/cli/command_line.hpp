#pragma once

#include "cli/command.hpp"

#include <span>
#include <string>
#include <vector>

namespace tempinbox::cli {

// The parsed command line.
struct parsed_line
{
    const command* chosen = nullptr;
    arguments given;
    bool wants_help = false;
    bool wants_version = false;
    std::vector<std::string> problems;
};

parsed_line parse(std::span<const std::string> words, const std::vector<command>& commands);

// The help of one command, and of the program.
std::string help_of(const command& shown);
std::string overview(const std::vector<command>& commands);

} // namespace tempinbox::cli
