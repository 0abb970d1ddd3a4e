#include "common/config/reader.hpp"
#include "common/config/spelling.hpp"
#include "common/config/units.hpp"
#include "common/core/text.hpp"

#include <boost/program_options.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

namespace tempinbox::config {
namespace {

namespace po = boost::program_options;

using names = std::set<std::string, std::less<>>;

constexpr std::string_view environment_prefix = "TEMPINBOX_";

constexpr std::string_view own_flags[] = {"help", "version", "print-settings", "check-config",
                                          "config"};

po::options_description describe(const std::vector<setting>& declared, bool with_own_flags)
{
    po::options_description options;
    if (with_own_flags) {
        options.add_options()("help,h", po::bool_switch());
        options.add_options()("version", po::bool_switch());
        options.add_options()("print-settings", po::bool_switch());
        options.add_options()("check-config", po::bool_switch());
        options.add_options()("config", po::value<std::string>());
    }
    for (const auto& known : declared)
        options.add_options()(known.name.c_str(), po::value<std::string>());
    return options;
}

// `--flag` alone means `--flag=true`, yet `--flag false` works too.
std::vector<std::string> spell_out_flags(int argc, const char* const* argv,
                                         const std::vector<setting>& declared)
{
    names switches;
    for (const auto& known : declared)
        if (known.allowed == allowed_truths)
            switches.insert("--" + known.name);
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const bool has_value = i + 1 < argc && parse_truth(argv[i + 1]).has_value();
        words.push_back(switches.contains(word) && !has_value ? std::string(word) + "=true"
                                                              : std::string(word));
    }
    return words;
}

std::string unknown_setting(const std::string& shown, std::string_view name,
                            const std::vector<setting>& declared)
{
    std::vector<std::string> known(std::begin(own_flags), std::end(own_flags));
    for (const auto& one : declared)
        known.push_back(one.name);
    const auto close = closest(name, known);
    return shown + " is not a setting" + (close.empty() ? "" : "; did you mean " + close + "?");
}

void read_flags(int argc, const char* const* argv, const std::vector<setting>& declared,
                bool takes_arguments, command_line& line, std::string& file)
{
    namespace style = po::command_line_style;
    const auto options = describe(declared, true);
    po::parsed_options parsed(&options);
    try {
        parsed = po::command_line_parser(spell_out_flags(argc, argv, declared))
                     .options(options)
                     .style(style::unix_style & ~style::allow_guessing)
                     .allow_unregistered()
                     .run();
    } catch (const po::error& error) {
        // All problems of the settings are reported together, by main.
        line.problems.push_back(error.what());
        return;
    }

    bool follows_unknown = false;
    for (const auto& option : parsed.options) {
        const auto value = option.value.empty() ? std::string() : option.value.back();
        if (option.position_key >= 0) {
            if (takes_arguments)
                line.arguments.push_back(value);
            else if (!follows_unknown)
                line.problems.push_back("unexpected argument " + quote(value));
            follows_unknown = false;
            continue;
        }
        follows_unknown = option.unregistered;
        if (option.unregistered)
            line.problems.push_back(
                unknown_setting("--" + option.string_key, option.string_key, declared));
        else if (option.string_key == "help")
            line.requested = command_line::action::show_help;
        else if (option.string_key == "version" &&
                 line.requested != command_line::action::show_help)
            line.requested = command_line::action::show_version;
        else if (option.string_key == "print-settings" &&
                 line.requested != command_line::action::show_help)
            line.requested = command_line::action::print_settings;
        else if (option.string_key == "check-config" && line.requested == command_line::action::run)
            line.requested = command_line::action::check_config;
        else if (option.string_key == "config")
            file = value;
        else
            line.values[option.string_key] = value;
    }
}

bool is_protocol(std::string_view name)
{
    return name == "TCP" || name == "UDP" || name == "SCTP";
}

// Kubernetes gives every container variables for the services of its namespace: a service
// tempinbox-gateway is TEMPINBOX_GATEWAY_SERVICE_HOST, …_SERVICE_PORT, …_PORT=tcp://10.0.0.1:80,
// …_PORT_80_TCP_ADDR and more.
bool is_service_link(std::string_view name, std::string_view value)
{
    if (name.ends_with("_SERVICE_HOST") || name.ends_with("_SERVICE_PORT") ||
        name.find("_SERVICE_PORT_") != std::string_view::npos)
        return true;
    if (name.ends_with("_PORT"))
        return value.find("://") != std::string_view::npos;
    constexpr std::string_view mark = "_PORT_";
    const auto port = name.find(mark);
    if (port == std::string_view::npos)
        return false;
    const auto number = name.substr(port + mark.size());
    const auto digits = number.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || number[digits] != '_')
        return false;
    const auto protocol = number.substr(digits + 1);
    return is_protocol(protocol.substr(0, protocol.find('_')));
}

void find_unknown_variables(const std::vector<setting>& declared, command_line& line)
{
    constexpr auto prefix = environment_prefix;
    // Variables that ./dev sets for the processes it starts.
    constexpr std::string_view own_prefix = "TEMPINBOX_DEV_";
    // Names are compared without the prefix, which would make any two look alike.
    std::vector<std::string> known{"CONFIG"};
    for (const auto& one : declared)
        known.push_back(environment_name(one.name).substr(prefix.size()));
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view assignment = *entry;
        const auto equals = assignment.find('=');
        if (equals == std::string_view::npos || !assignment.starts_with(prefix) ||
            assignment.starts_with(own_prefix))
            continue;
        const auto name = assignment.substr(prefix.size(), equals - prefix.size());
        if (std::find(known.begin(), known.end(), name) != known.end() ||
            is_service_link(name, assignment.substr(equals + 1)))
            continue;
        const auto meant = closest(name, known);
        line.unknown_variables.push_back({std::string(assignment.substr(0, equals)),
                                          meant.empty() ? "" : std::string(prefix) + meant});
    }
    std::sort(line.unknown_variables.begin(), line.unknown_variables.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
}

void read_variable(const std::string& variable, const setting& known, command_line& line)
{
    // An empty variable counts as not set: deployment templates leave such variables behind.
    const char* value = std::getenv(variable.c_str());
    if (value != nullptr && *value != '\0')
        line.values.emplace(known.name, value);
}

void read_environment(const std::vector<setting>& declared, command_line& line)
{
    for (const auto& known : declared) {
        const auto variable = environment_name(known.name);
        read_variable(variable, known, line);
        // OpenTelemetry's own variables are set for whole clusters.
        if (known.name.starts_with("otel-"))
            read_variable(variable.substr(environment_prefix.size()), known, line);
    }
}

void read_file(const std::string& path, const std::vector<setting>& declared, command_line& line)
{
    std::ifstream file(path);
    if (!file) {
        line.problems.push_back("--config: cannot be read: " + quote(path));
        return;
    }
    const auto options = describe(declared, false);
    try {
        for (const auto& option : po::parse_config_file(file, options, true).options) {
            const auto value = option.value.empty() ? std::string() : option.value.back();
            if (option.unregistered)
                line.problems.push_back(
                    unknown_setting(path + ": " + option.string_key, option.string_key, declared));
            else
                line.values.emplace(option.string_key, value);
        }
    } catch (const po::error& error) {
        // As above: main reports all problems together.
        line.problems.push_back(path + ": " + error.what());
    }
}

} // namespace

command_line read_command_line(int argc, const char* const* argv,
                               const std::vector<setting>& declared, bool takes_arguments)
{
    command_line line;
    std::string file;
    if (const char* named = std::getenv("TEMPINBOX_CONFIG"))
        file = named;
    read_flags(argc, argv, declared, takes_arguments, line, file);
    read_environment(declared, line);
    find_unknown_variables(declared, line);
    if (!file.empty())
        read_file(file, declared, line);
    return line;
}

std::string list_unknown_variables(const std::vector<unknown_variable>& unknown)
{
    std::string listed;
    for (const auto& one : unknown) {
        listed += (listed.empty() ? "" : ", ") + one.name;
        if (!one.closest.empty())
            listed += " (did you mean " + one.closest + "?)";
    }
    return listed;
}

std::string environment_name(std::string_view setting_name)
{
    std::string name(environment_prefix);
    for (const char c : setting_name)
        name += c == '-' ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    return name;
}

} // namespace tempinbox::config
