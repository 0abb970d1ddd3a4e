#pragma once

#include "tempinboxctl/command.hpp"

#include <span>
#include <string>
#include <vector>

namespace tempinbox::ctl {

// The parsed command line. Options of the chosen command stay with it; anything else that begins
// with a dash goes to the settings, which all commands share.
struct parsed_line
{
    const command* chosen = nullptr;
    std::string topic; // first word, if no command was found
    arguments given;
    std::vector<std::string> settings; // `--database=…`, for config::read_command_line
    bool wants_help = false;
    std::vector<std::string> problems;
};

// `setting_names`: options that every command has and that take a value.
parsed_line parse(std::span<const std::string> words, const std::vector<command>& commands,
                  const std::vector<std::string>& setting_names);

// The help of one command, and the list of all.
std::string help_of(const command& shown);
std::string overview(const std::vector<command>& commands, std::string_view topic = {});

} // namespace tempinbox::ctl
