#include "tempinboxctl/program.hpp"

#include "common/core/version.hpp"
#include "common/log/log.hpp"
#include "tempinboxctl/command_line.hpp"
#include "tempinboxctl/session.hpp"

#include <boost/asio/co_spawn.hpp>

#include <sodium.h>

#include <cstdio>

namespace tempinbox::ctl {
namespace {

enum exit_code : int { done = 0, failed = 1, bad_usage = 2 };

constexpr const char* purpose = "the operator's command line of the Temporary Inbox Service.";

void print(std::FILE* stream, const std::string& text)
{
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
}

exit_code complain(const std::vector<std::string>& problems, std::string_view command_name)
{
    std::string text;
    for (const auto& problem : problems)
        text += "tempinboxctl: " + problem + "\n";
    text += "See tempinboxctl " + std::string(command_name) + (command_name.empty() ? "" : " ") +
            "--help\n";
    print(stderr, text);
    return bad_usage;
}

exit_code explain(const failure& reason, const command& selected)
{
    if (reason.code == errc::invalid_argument)
        return complain({reason.message}, selected.name);
    print(stderr, "tempinboxctl: " + reason.message + "\n");
    return failed;
}

// Runs the command's coroutine to its end on the loop.
result<command_result> run_to_end(runtime::host& host, session& connections,
                                  const command& selected, const arguments& given)
{
    result<command_result> outcome = failure{errc::internal, "the command did not end"};
    std::exception_ptr thrown;
    boost::asio::co_spawn(host.loop(), selected.run(connections, given),
                          [&](const std::exception_ptr& error, result<command_result> completed) {
                              thrown = error;
                              outcome = std::move(completed);
                              host.loop().stop();
                          });
    host.loop().run();
    if (thrown)
        std::rethrow_exception(thrown);
    return outcome;
}

exit_code execute(const command& selected, const arguments& given, const settings& chosen)
{
    runtime::host host("tempinboxctl", {});
    session connections(host, chosen);
    try {
        const auto outcome = run_to_end(host, connections, selected, given);
        if (!outcome)
            return explain(outcome.error(), selected);
        print(stdout, chosen.output == "json" ? to_json(*outcome) : to_text(*outcome));
        return outcome->is_failure ? failed : done;
    } catch (const failure_error& refused) {
        return explain(refused.reason(), selected);
    } catch (const std::exception& error) {
        print(stderr, "tempinboxctl: " + std::string(error.what()) + "\n");
        return failed;
    }
}

std::vector<std::string> names_of(const std::vector<config::setting>& declared)
{
    std::vector<std::string> names{"config"};
    for (const auto& known : declared)
        names.push_back(known.name);
    return names;
}

config::command_line read_settings_line(const std::vector<std::string>& words,
                                        const std::vector<config::setting>& declared)
{
    std::vector<const char*> argv{"tempinboxctl"};
    for (const auto& word : words)
        argv.push_back(word.c_str());
    return config::read_command_line(static_cast<int>(argv.size()), argv.data(), declared);
}

exit_code help(const parsed_line& line, const std::vector<command>& commands,
               const std::vector<config::setting>& declared)
{
    if (line.chosen)
        print(stdout, help_of(*line.chosen));
    else if (!line.topic.empty() && line.problems.empty())
        print(stdout, overview(commands, line.topic));
    else
        print(stdout,
              config::help_text("tempinboxctl", purpose, declared) + "\n" + overview(commands));
    return done;
}

} // namespace

int run(int argc, const char* const* argv)
{
    if (sodium_init() < 0)
        return failed;
    log::set_level(log::level::error);
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto commands = all_commands();
    config::reader declaring;
    read_settings(declaring);

    if (words.size() == 1 && words.front() == "--version") {
        print(stdout, "tempinboxctl " + std::string(version()) + "\n");
        return done;
    }
    if (words.size() == 1 && words.front() == "--print-settings") {
        print(stdout, config::settings_json("tempinboxctl", purpose, declaring.declared()));
        return done;
    }
    const auto line = parse(words, commands, names_of(declaring.declared()));
    if (line.wants_help || words.empty())
        return help(line, commands, declaring.declared());
    if (!line.problems.empty())
        return complain(line.problems, line.chosen ? line.chosen->name : "");
    if (!line.chosen)
        return complain({"a command is needed, such as `" + commands.front().name + "`"},
                        line.topic);

    auto given = read_settings_line(line.settings, declaring.declared());
    config::reader reader(std::move(given.values));
    auto chosen = read_settings(reader);
    if (line.given.has("json"))
        chosen.output = "json";
    auto problems = std::move(given.problems);
    problems.insert(problems.end(), reader.problems().begin(), reader.problems().end());
    if (!problems.empty())
        return complain(problems, line.chosen->name);
    return execute(*line.chosen, line.given, chosen);
}

} // namespace tempinbox::ctl
