#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"

#include <charconv>
#include <istream>

namespace tempinbox::ctl {

std::optional<std::string> arguments::positional_of(const std::string& name) const
{
    const auto entry = positionals.find(name);
    return entry == positionals.end() ? std::nullopt : std::optional(entry->second);
}

std::optional<std::string> arguments::value(const std::string& option_name) const
{
    const auto entry = options.find(option_name);
    return entry == options.end() ? std::nullopt : std::optional(entry->second.back());
}

std::vector<std::string> arguments::values(const std::string& option_name) const
{
    const auto entry = options.find(option_name);
    return entry == options.end() ? std::vector<std::string>() : entry->second;
}

result<std::optional<std::int64_t>> arguments::integer(const std::string& option_name,
                                                       std::int64_t min, std::int64_t max) const
{
    const auto text = value(option_name);
    if (!text)
        return std::optional<std::int64_t>();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || end != text->data() + text->size() || number < min || number > max)
        return failure{errc::invalid_argument, "--" + option_name + " must be an integer from " +
                                                   std::to_string(min) + " to " +
                                                   std::to_string(max) + ", not " + quote(*text)};
    return std::optional(number);
}

result<std::optional<bool>> arguments::truth(const std::string& option_name) const
{
    const auto text = value(option_name);
    if (!text)
        return std::optional<bool>();
    if (*text != "true" && *text != "false")
        return failure{errc::invalid_argument,
                       "--" + option_name + " must be true or false, not " + quote(*text)};
    return std::optional(*text == "true");
}

result<std::string> word_or_line(const std::string& word, std::istream& in)
{
    if (word != "-")
        return word;
    std::string line;
    if (!std::getline(in, line))
        return failure{errc::invalid_argument, "standard input is empty"};
    if (line.ends_with('\r'))
        line.pop_back();
    return line;
}

option json_flag()
{
    return {"json", "", "the same as --output json", option::kind::flag};
}

std::vector<command> all_commands()
{
    std::vector<command> all;
    for (const auto make :
         {account_commands, plan_commands, key_commands, domain_commands, webhook_commands,
          rule_commands, secret_commands, topic_commands, schema_commands, event_commands,
          door_commands, delivery_commands, dead_letter_commands, bootstrap_commands,
          doctor_commands, smoke_commands, restore_commands})
        for (auto& one : make())
            all.push_back(std::move(one));
    return all;
}

} // namespace tempinbox::ctl
