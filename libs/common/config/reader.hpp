#pragma once

#include "common/core/network.hpp"
#include "common/core/secret.hpp"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::config {

// One setting as `--help` and docs show it: flag --name, environment TEMPINBOX_NAME, line `name =
// value` of the --config file.
struct setting
{
    std::string name;
    std::string fallback;
    std::string meaning;
    std::string allowed;
    bool is_secret = false; // its value may hold a password: shown masked
    bool is_hidden = false; // all of its value is secret: not shown
};

// The most memory that a setting lets the process use; unbounded without a number.
struct memory_bound
{
    std::string what; // a setting's name, or what it is that no setting bounds
    std::optional<std::uint64_t> bytes;
};

// Reads a program's settings. Each accessor declares the setting (name, default, meaning) and
// converts its value in one line; a bad value is recorded as an error and the default returned, so
// that one pass finds every error. Without any values it only collects the declarations.
class reader
{
public:
    reader() = default;
    explicit reader(std::map<std::string, std::string> values) : values_(std::move(values)) {}

    std::string text(std::string_view name, std::string_view fallback, std::string_view meaning);
    // Required and not empty.
    std::string required_text(std::string_view name, std::string_view meaning);
    bool flag(std::string_view name, bool fallback, std::string_view meaning);
    std::int64_t integer(std::string_view name, std::int64_t fallback, std::int64_t min,
                         std::int64_t max, std::string_view meaning);
    // `250ms`, `5s`, `10m`, `24h`, `7d`; a plain number is seconds.
    std::chrono::milliseconds duration(std::string_view name, std::chrono::milliseconds fallback,
                                       std::chrono::milliseconds min, std::chrono::milliseconds max,
                                       std::string_view meaning);
    // A plain number or with `KiB`, `MiB`, `GiB`.
    std::uint64_t bytes(std::string_view name, std::uint64_t fallback, std::uint64_t min,
                        std::uint64_t max, std::string_view meaning);
    host_port address(std::string_view name, std::string_view fallback, std::string_view meaning);
    // Comma-separated, at least one.
    std::vector<host_port> addresses(std::string_view name, std::string_view fallback,
                                     std::string_view meaning);
    std::vector<std::string> list(std::string_view name, std::string_view fallback,
                                  std::string_view meaning);
    std::vector<network> networks(std::string_view name, std::string_view fallback,
                                  std::string_view meaning);
    std::string choice(std::string_view name, std::string_view fallback,
                       std::initializer_list<std::string_view> allowed, std::string_view meaning);
    // A path; the file must be readable if set. Empty if not set.
    std::string readable_file(std::string_view name, std::string_view fallback,
                              std::string_view meaning);

    // For rules that span settings.
    void add_problem(std::string_view name, std::string_view what);
    // What works, at a risk: the program starts and logs it.
    void add_warning(std::string what) { warnings_.push_back(std::move(what)); }
    // Marks a setting read before as one whose value may hold a password.
    void mark_secret(std::string_view name);
    // The same for one whose whole value is secret.
    void mark_hidden(std::string_view name);
    void add_memory(std::string_view what, std::optional<std::uint64_t> bytes);

    const std::vector<setting>& declared() const { return declared_; }
    const std::vector<std::string>& problems() const { return problems_; }
    const std::vector<std::string>& warnings() const { return warnings_; }
    const std::vector<memory_bound>& memory_bounds() const { return memory_bounds_; }
    // `name=value` of every declared setting, for one line of the log; passwords inside values are
    // masked.
    std::string effective() const;

private:
    std::string take(std::string_view name, std::string fallback, std::string_view meaning,
                     std::string allowed);
    template <class T, class Parse>
    std::vector<T> take_list(std::string_view name, std::string_view fallback,
                             std::string_view meaning, std::string allowed, Parse parse);

    std::map<std::string, std::string> values_;
    std::vector<setting> declared_;
    std::vector<std::string> problems_;
    std::vector<std::string> warnings_;
    std::vector<memory_bound> memory_bounds_;
};

// An environment variable that looks like a setting but is not one.
struct unknown_variable
{
    std::string name;
    std::string closest; // the setting that may have been meant; empty if none is similar
};

// What the command line asked for.
struct command_line
{
    enum class action { run, show_help, show_version, print_settings, check_config };

    action requested = action::run;
    std::map<std::string, std::string> values;
    std::vector<std::string> arguments; // positional, where allowed
    std::vector<std::string> problems;
    std::vector<unknown_variable>
        unknown_variables; // not an error: a pod's containers may share their environment
};

// Collects values for the declared settings from flags, then environment, then the --config file;
// the first that has a value wins. Settings `otel-…` are also read from the variables of
// OpenTelemetry: OTEL_SERVICE_NAME after TEMPINBOX_OTEL_SERVICE_NAME. Unknown flags, unknown lines
// in the file and unreadable files are errors.
command_line read_command_line(int argc, const char* const* argv,
                               const std::vector<setting>& declared, bool takes_arguments = false);

// All of them for one line of a log: `TEMPINBOX_A, TEMPINBOX_SMPT (did you mean TEMPINBOX_SMTP?)`.
// One line, since a shell's or a pod's environment may hold dozens that are another program's.
std::string list_unknown_variables(const std::vector<unknown_variable>& unknown);

// One JSON object for tools: name, environment variable, section, default, meaning, allowed values
// of each setting, whether it must be given and whether it is secret.
std::string settings_json(std::string_view program, std::string_view purpose,
                          const std::vector<setting>& declared);

std::string help_text(std::string_view program, std::string_view purpose,
                      const std::vector<setting>& declared);

// TEMPINBOX_SMTP_LISTEN of `smtp-listen`.
std::string environment_name(std::string_view setting_name);

// `postgresql://user:***@host/db`, `host=x password = ***`: a value fit for logs and messages.
std::string mask_passwords(std::string_view value);

} // namespace tempinbox::config
