#pragma once

#include "tempinboxctl/command.hpp"

#include <span>
#include <string>
#include <vector>

namespace tempinbox::ctl {

// What the words of the command line say. Options of the chosen command stay with it; everything
// else that begins with a dash is left to the settings, which all commands share.
struct parsed_line
{
    const command* chosen = nullptr;
    std::string topic; // first word, where no command was found
    arguments given;
    std::vector<std::string> settings; // `--database=…`, for config::read_command_line
    bool wants_help = false;
    std::vector<std::string> problems;
};

// `setting_names`: options that every command has and that take a value.
parsed_line parse(std::span<const std::string> words, const std::vector<command>& commands,
                  const std::vector<std::string>& setting_names);

// Of one command, and of all.
std::string help_of(const command& shown);
std::string overview(const std::vector<command>& commands, std::string_view topic = {});

} // namespace tempinbox::ctl
