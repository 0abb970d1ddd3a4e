#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "tempinboxctl/command_result.hpp"

#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::ctl {

class session;

enum class need { required, optional };

struct positional
{
    std::string name; // as in help: ACCOUNT
    std::string meaning;
    need needed = need::required;

    positional(std::string title, std::string text, need how = need::required)
        : name(std::move(title)),
          meaning(std::move(text)),
          needed(how)
    {}
};

struct option
{
    enum class kind { required, optional, repeated, flag };

    std::string name;  // without the dashes
    std::string value; // as in help: N; empty for a flag
    std::string meaning;
    kind takes = kind::optional;
};

// What the command line gave to a command; all required arguments are present.
class arguments
{
public:
    arguments() = default;

    std::map<std::string, std::string> positionals;
    std::map<std::string, std::vector<std::string>> options;

    const std::string& at(const std::string& positional_name) const
    {
        return positionals.at(positional_name);
    }
    std::optional<std::string> positional_of(const std::string& name) const;
    std::optional<std::string> value(const std::string& option_name) const;
    std::vector<std::string> values(const std::string& option_name) const;
    bool has(const std::string& option_name) const { return options.contains(option_name); }
    // Absent if not given; the failure names the option and its bounds.
    result<std::optional<std::int64_t>> integer(const std::string& option_name, std::int64_t min,
                                                std::int64_t max) const;
    result<std::optional<bool>> truth(const std::string& option_name) const;
};

// The value of an option, or the first line of `in` if the value is `-`: so that no list of
// processes shows a secret.
result<std::string> word_or_line(const std::string& word, std::istream& in);

// For commands that a person reads as lines and a program as JSON.
option json_flag();

// One verb: `account create`, `doctor`.
struct command
{
    std::string name;
    std::string purpose;
    std::vector<positional> positionals;
    std::vector<option> options;
    std::function<awaitable<result<command_result>>(session&, arguments)> run;
};

std::vector<command> account_commands();
std::vector<command> plan_commands();
std::vector<command> key_commands();
std::vector<command> domain_commands();
std::vector<command> webhook_commands();
std::vector<command> rule_commands();
std::vector<command> secret_commands();
std::vector<command> topic_commands();
std::vector<command> schema_commands();
std::vector<command> event_commands();
std::vector<command> door_commands();
std::vector<command> delivery_commands();
std::vector<command> dead_letter_commands();
std::vector<command> smoke_commands();
std::vector<command> bootstrap_commands();
std::vector<command> doctor_commands();
std::vector<command> restore_commands();
std::vector<command> all_commands();

} // namespace tempinbox::ctl
