#pragma once

#include "cli/command.hpp"
#include "common/core/secret.hpp"

#include <functional>
#include <optional>
#include <string>

namespace tempinbox::cli {

// The variables of the process's environment; empty ones count as absent.
using environment = std::function<std::optional<std::string>(const std::string&)>;
std::optional<std::string> find_variable(const std::string& name);

// Where the service is and who calls it.
struct settings
{
    std::string base_url; // without a slash at the end
    secret api_key;
    std::string key_origin; // where the key was found, for messages
    std::string ca_file;    // empty: the system's
    bool is_json = false;
};

// Throws failure_error (invalid_argument) that names what is missing or wrong, and each way to give
// it.
settings read_settings(const arguments& given, const environment& variables);

// A folder of the user by the XDG Base Directory Specification: `$XDG_CONFIG_HOME/tempinbox`, or
// `~/.config/tempinbox`. Absent without a home.
std::optional<std::string> config_folder(const environment& variables);
std::optional<std::string> state_folder(const environment& variables);

// The trusted certificates of the system: distributions keep them in different places, and the
// program brings no list of its own. Empty: none is found.
std::string system_ca_file(const environment& variables);

} // namespace tempinbox::cli
