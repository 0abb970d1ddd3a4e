#include "cli/program.hpp"

#include "cli/command_line.hpp"
#include "cli/session.hpp"

#include <boost/asio/co_spawn.hpp>

#include <sodium.h>

#ifdef __GLIBC__
#include <nss.h>
#endif

#include <cstdio>

namespace tempinbox::cli {
namespace {

// False if not all of it could be written.
bool print(std::FILE* stream, const std::string& text)
{
    return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
           std::fflush(stream) == 0;
}

int to_int(exit_code code)
{
    return static_cast<int>(code);
}

void complain(const std::string& message)
{
    print(stderr, "tempinbox: " + message + "\n");
}

int refuse_usage(const std::vector<std::string>& problems, const command* chosen)
{
    for (const auto& problem : problems)
        complain(problem);
    print(stderr, std::string("See tempinbox ") + (chosen ? chosen->name + " " : "") + "--help\n");
    return to_int(exit_code::bad_usage);
}

// Runs the command's coroutine to its end on the loop.
command_output run_to_end(boost::asio::io_context& loop, session& working, const command& chosen,
                          const arguments& given)
{
    command_output output;
    std::exception_ptr thrown;
    boost::asio::co_spawn(loop, chosen.run(working, given),
                          [&](const std::exception_ptr& error, command_output completed) {
                              thrown = error;
                              output = std::move(completed);
                              loop.stop();
                          });
    loop.run();
    if (thrown)
        std::rethrow_exception(thrown);
    return output;
}

int execute(const command& chosen, const arguments& given)
{
    boost::asio::io_context loop(1);
    session working(loop, given, find_variable);
    try {
        const auto output = run_to_end(loop, working, chosen, given);
        std::string printed = output.text;
        if (working.is_json())
            printed = output.json.empty() ? std::string() : output.json + "\n";
        if (!print(stdout, printed)) {
            complain("standard output cannot be written");
            return to_int(exit_code::local_failure);
        }
        if (!output.complaint.empty())
            complain(output.complaint);
        return to_int(output.code);
    } catch (const failure_error& refused) {
        complain(refused.reason().message);
        return to_int(exit_code_of(refused.reason().code));
    } catch (const std::exception& error) {
        complain(error.what());
        return to_int(exit_code::local_failure);
    }
}

// A statically linked program cannot load the modules of the machine's name service safely: they
// belong to another C library. These two are built in.
void use_built_in_names()
{
#ifdef __GLIBC__
    ::__nss_configure_lookup("hosts", "files dns");
#endif
}

} // namespace

int run(int argc, const char* const* argv)
{
    if (sodium_init() < 0)
        return to_int(exit_code::local_failure);
    use_built_in_names();
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto commands = all_commands();
    const auto line = parse(words, commands);
    if (line.wants_version) {
        print(stdout, "tempinbox " TEMPINBOX_VERSION "\n");
        return to_int(exit_code::done);
    }
    if (line.wants_help || words.empty() || words.front() == "help") {
        print(stdout, line.chosen ? help_of(*line.chosen) : overview(commands));
        return to_int(exit_code::done);
    }
    if (!line.problems.empty())
        return refuse_usage(line.problems, line.chosen);
    return execute(*line.chosen, line.given);
}

} // namespace tempinbox::cli
