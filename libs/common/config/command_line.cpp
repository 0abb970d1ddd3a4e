#include "common/command_line/cli11_words.hpp"
#include "common/config/reader.hpp"
#include "common/config/spelling.hpp"
#include "common/config/units.hpp"
#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

namespace tempinbox::config {
namespace {

using names = std::set<std::string, std::less<>>;

constexpr std::string_view environment_prefix = "TEMPINBOX_";

constexpr std::string_view own_flags[] = {"help", "version", "print-settings", "check-config",
                                          "config"};

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

// Where several are given, the first one counts.
constexpr std::pair<const char*, command_line::action> actions[] = {
    {"-h,--help", command_line::action::show_help},
    {"--version", command_line::action::show_version},
    {"--print-settings", command_line::action::print_settings},
    {"--check-config", command_line::action::check_config},
};

void declare(CLI::App& parser, const std::vector<setting>& declared)
{
    parser.set_help_flag(); // help is one of the actions
    parser.allow_extras();
    for (const auto& [names, requested] : actions)
        parser.add_flag(names)->disable_flag_override();
    parser.add_option("--config", CLI::callback_t())->take_last();
    for (const auto& known : declared)
        parser.add_option("--" + known.name, CLI::callback_t())->take_last();
}

void take_action(const CLI::App& parser, command_line& line)
{
    for (const auto& [names, requested] : actions) {
        const std::string_view all = names;
        if (parser.get_option(std::string(all.substr(all.find("--"))))->count() == 0)
            continue;
        line.requested = requested;
        return;
    }
}

// The last value given. CLI11 takes a flag that follows for the value that was forgotten.
std::optional<std::string> find_value(const CLI::App& parser, const std::string& option,
                                      command_line& line)
{
    const auto values = parser.get_option(option)->results();
    if (values.empty())
        return std::nullopt;
    const auto& value = values.back();
    if (value.starts_with("--") && parser.get_option_no_throw(value.substr(0, value.find('=')))) {
        line.problems.push_back(option + " needs a value");
        return std::nullopt;
    }
    return value;
}

// The words that are no setting: arguments, and what is unknown.
void take_extras(const CLI::App& parser, const std::vector<setting>& declared, bool takes_arguments,
                 command_line& line)
{
    bool follows_unknown = false;
    for (const auto& word : parser.remaining()) {
        if (word == "--")
            continue;
        const bool is_unknown = word.starts_with('-') && word.size() > 1;
        if (is_unknown) {
            const auto shown = word.substr(0, word.find('='));
            const auto name = shown.substr(std::min(shown.find_first_not_of('-'), shown.size()));
            line.problems.push_back(unknown_setting(shown, name, declared));
        } else if (takes_arguments) {
            line.arguments.push_back(word);
        } else if (!follows_unknown) {
            line.problems.push_back("unexpected argument " + quote(word));
        }
        follows_unknown = is_unknown; // the next word is probably its value
    }
}

void read_flags(int argc, const char* const* argv, const std::vector<setting>& declared,
                bool takes_arguments, command_line& line, std::string& file)
{
    CLI::App parser;
    declare(parser, declared);
    try {
        parser.parse(to_cli11_words(spell_out_flags(argc, argv, declared)));
    } catch (const CLI::ArgumentMismatch& error) {
        // All problems of the settings are reported together, by main.
        line.problems.push_back(explain_cli11_mismatch(error.what()));
        return;
    } catch (const CLI::ParseError& error) {
        line.problems.emplace_back(error.what());
        return;
    }
    take_action(parser, line);
    for (const auto& known : declared)
        if (auto value = find_value(parser, "--" + known.name, line))
            line.values[known.name] = std::move(*value);
    if (auto value = find_value(parser, "--config", line))
        file = std::move(*value);
    take_extras(parser, declared, takes_arguments, line);
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

// CLI11 would take it for a setting that is true.
std::string_view find_line_without_value(std::string_view text)
{
    while (!text.empty()) {
        const auto line = trim(text.substr(0, text.find('\n')));
        if (!line.empty() && line.find_first_of("#;[") != 0 &&
            line.find('=') == std::string_view::npos)
            return line;
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    return {};
}

void read_file(const std::string& path, const std::vector<setting>& declared, command_line& line)
{
    std::ifstream file(path);
    if (!file) {
        line.problems.push_back("--config: cannot be read: " + quote(path));
        return;
    }
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (const auto without = find_line_without_value(text); !without.empty()) {
        line.problems.push_back(path + ": a line has no =: " + quote(without));
        return;
    }
    CLI::ConfigBase format;
    format.arrayBounds('\x1e', '\x1e'); // a value is one text, whatever spaces and commas it has
    std::istringstream lines(text);
    for (const auto& item : format.from_config(lines)) {
        if (item.name == "--" ||
            item.name == "++") // a section's end or begin, unknown by its items
            continue;
        const auto name = item.fullname();
        const bool is_known = std::any_of(declared.begin(), declared.end(),
                                          [&](const setting& known) { return known.name == name; });
        if (is_known) {
            line.values.emplace(name, item.inputs.front());
            continue;
        }
        auto shown = path;
        shown.append(": ").append(name);
        line.problems.push_back(unknown_setting(shown, name, declared));
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
        name += c == '-' ? '_' : to_upper(c);
    return name;
}

} // namespace tempinbox::config
