#include "cli/command.hpp"

#include "cli/completion.hpp"
#include "cli/duration.hpp"
#include "common/core/text.hpp"
#include "common/json/writer.hpp"

#include <charconv>

namespace tempinbox::cli {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& allowed,
                         const std::string& given)
{
    throw failure_error(
        {errc::invalid_argument, "--" + name + " must be " + allowed + ", not " + quote(given)});
}

awaitable<command_output> print_completion(session&, arguments given)
{
    command_output output;
    output.text = completion_script(given.words.front(), all_commands());
    json::writer out;
    out.begin_object()
        .member("shell", given.words.front())
        .member("script", output.text)
        .end_object();
    output.json = out.take();
    co_return output;
}

command completion_command()
{
    return {.name = "completion",
            .purpose = "Prints the completion of a shell",
            .takes = {.name = "SHELL",
                      .meaning = "bash, zsh or fish",
                      .min = 1,
                      .max = 1,
                      .choices = {"bash", "zsh", "fish"}},
            .options = {},
            .run = print_completion};
}

} // namespace

std::optional<std::string> arguments::value(const std::string& name) const
{
    const auto found = options.find(name);
    return found == options.end() || found->second.empty() ? std::nullopt
                                                           : std::optional(found->second.front());
}

std::vector<std::string> arguments::values(const std::string& name) const
{
    const auto found = options.find(name);
    return found == options.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::string> arguments::text(const std::string& name, std::size_t min,
                                           std::size_t max) const
{
    auto given = value(name);
    if (!given)
        return given;
    const bool is_text = is_valid_utf8(*given);
    const auto characters = is_text ? count_characters(*given) : 0;
    if (!is_text || characters < min || characters > max)
        refuse(name, std::to_string(min) + " to " + std::to_string(max) + " characters long",
               *given);
    return given;
}

std::optional<std::int64_t> arguments::integer(const std::string& name, std::int64_t min,
                                               std::int64_t max) const
{
    const auto given = value(name);
    if (!given)
        return std::nullopt;
    std::int64_t number = 0;
    const auto end = given->data() + given->size();
    const auto [rest, error] = std::from_chars(given->data(), end, number);
    if (error != std::errc() || rest != end || number < min || number > max)
        refuse(name, "an integer from " + std::to_string(min) + " to " + std::to_string(max),
               *given);
    return number;
}

std::optional<std::chrono::seconds> arguments::duration(const std::string& name,
                                                        std::chrono::seconds min,
                                                        std::chrono::seconds max) const
{
    const auto given = value(name);
    if (!given)
        return std::nullopt;
    const auto read = parse_duration(*given);
    if (!read || *read < min || *read > max)
        refuse(name,
               "a time from " + to_text(min) + " to " + to_text(max) +
                   " such as 90s, 15m, 2h or 7d",
               *given);
    return read;
}

std::vector<option> common_options()
{
    return {
        {.name = "base-url",
         .value = "URL",
         .meaning = "The service, such as https://mail.example.com; or TEMPINBOX_BASE_URL"},
        {.name = "key-file",
         .value = "FILE",
         .meaning = "Holds the API key, for nobody but you (0600); or TEMPINBOX_API_KEY",
         .is_file = true},
        {.name = "ca-file",
         .value = "FILE",
         .meaning = "Certificates to trust (PEM) in place of the system's",
         .is_file = true},
        {.name = "json",
         .value = "",
         .meaning = "Prints JSON, as the API has it",
         .takes = option::kind::flag},
    };
}

std::vector<command> all_commands()
{
    auto all = inbox_commands();
    for (auto& next : email_commands())
        all.push_back(std::move(next));
    all.push_back(listen_command());
    all.push_back(completion_command());
    return all;
}

} // namespace tempinbox::cli
