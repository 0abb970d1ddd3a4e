#include "cli/completion.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::cli;

TEST_CASE("every shell's script knows every command and option", "[cli]")
{
    const auto commands = all_commands();
    for (const char* const shell : {"bash", "zsh", "fish"}) {
        const auto script = completion_script(shell, commands);
        const std::string dashes = std::string_view(shell) == "fish" ? "-l " : "--";
        for (const auto& one : commands) {
            CHECK(script.find(one.name) != std::string::npos);
            for (const auto& known : one.options)
                CHECK(script.find(dashes + known.name) != std::string::npos);
        }
    }
}
