#pragma once

#include "cli/exit_code.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::cli {

class session;

// An option of a command or of all. Help, parser and completion are made of it.
struct option
{
    enum class kind { flag, single, repeated };

    std::string name;       // without the dashes
    std::string value = {}; // as in help: N; empty for a flag
    std::string meaning;
    kind takes = kind::single;
    std::vector<std::string> choices = {}; // the only values, where there are any
    bool is_file = false;                  // completed as file names
    bool is_required = false;
};

// The words of a command that are no options.
struct positional
{
    std::string name; // as in help: INBOX
    std::string meaning;
    std::size_t min = 0;
    std::size_t max = 0;
    std::vector<std::string> choices;
};

// What the command line gave. What reads a value throws failure_error (invalid_argument) that names
// the option, what was given and what is allowed.
class arguments
{
public:
    std::vector<std::string> words;
    std::map<std::string, std::vector<std::string>> options;

    bool has(const std::string& name) const { return options.contains(name); }
    std::optional<std::string> value(const std::string& name) const;
    std::vector<std::string> values(const std::string& name) const;

    // Characters are code points.
    std::optional<std::string> text(const std::string& name, std::size_t min,
                                    std::size_t max) const;
    std::optional<std::int64_t> integer(const std::string& name, std::int64_t min,
                                        std::int64_t max) const;
    std::optional<std::chrono::seconds> duration(const std::string& name, std::chrono::seconds min,
                                                 std::chrono::seconds max) const;
};

// What a command prints at its end, in either form.
struct command_output
{
    std::string text = {};
    std::string json = {}; // without the line's end
    exit_code code = exit_code::done;
    std::string complaint = {}; // to standard error
};

struct command
{
    std::string name;
    std::string purpose;
    positional takes;
    std::vector<option> options;
    std::function<awaitable<command_output>(session&, arguments)> run;
};

// Of every command.
std::vector<option> common_options();

std::vector<command> inbox_commands();
std::vector<command> email_commands();
command listen_command();
std::vector<command> all_commands();

} // namespace tempinbox::cli
