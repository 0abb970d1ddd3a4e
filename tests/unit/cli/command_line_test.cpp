#include "cli/command_line.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::cli;

namespace {

const std::vector<command>& commands()
{
    static const auto all = all_commands();
    return all;
}

parsed_line parse_words(const std::vector<std::string>& words)
{
    return parse(words, commands());
}

std::string refusal_of(const std::function<void()>& reading)
{
    try {
        reading();
    } catch (const failure_error& refused) {
        return refused.reason().message;
    }
    return {};
}

} // namespace

TEST_CASE("options of all commands stand before or behind the command", "[cli]")
{
    const auto before = parse_words({"--json", "--base-url", "http://a", "list"});
    const auto behind = parse_words({"list", "--base-url=http://a", "--json"});

    for (const auto& line : {before, behind}) {
        REQUIRE(line.problems.empty());
        CHECK(line.chosen->name == "list");
        CHECK(line.given.has("json"));
        CHECK(line.given.value("base-url") == "http://a");
    }
}

TEST_CASE("a value that is called like a command stays a value", "[cli]")
{
    const auto line = parse_words({"create", "--name", "list", "--tag", "a", "--tag", "rm"});

    REQUIRE(line.problems.empty());
    CHECK(line.chosen->name == "create");
    CHECK(line.given.value("name") == "list");
    CHECK(line.given.values("tag") == std::vector<std::string>{"a", "rm"});
}

TEST_CASE("what is wrong in a command line is named", "[cli]")
{
    using problems = std::vector<std::string>;

    CHECK(parse_words({"creat"}).problems.front() == "there is no command \"creat\"");
    CHECK(parse_words({"wait"}).problems ==
          problems{"INBOX is missing: An inbox: its id or its address"});
    CHECK(parse_words({"wait", "a", "b"}).problems == problems{"unexpected argument \"b\""});
    CHECK(parse_words({"create", "--tll", "1h"}).problems ==
          problems{"there is no option \"--tll\""});
    CHECK(parse_words({"create", "--ttl"}).problems == problems{"--ttl needs a value"});
    CHECK(parse_words({"create", "--ttl", "1h", "--ttl", "2h"}).problems ==
          problems{"--ttl is given twice"});
    CHECK(parse_words({"list", "--status", "dead"}).problems ==
          problems{"--status must be one of active, expired, all, not \"dead\""});
    CHECK(parse_words({"listen", "--inbox", "a"}).problems ==
          problems{"--forward-to is missing: Gets a POST for each email, such as "
                   "http://localhost:3000/hook"});
    CHECK(parse_words({"completion", "tcsh"}).problems ==
          problems{"SHELL must be one of bash, zsh, fish, not \"tcsh\""});
    CHECK(parse_words({"list", "--json=no"}).problems == problems{"--json takes no value"});
}

TEST_CASE("every command has its help", "[cli]")
{
    for (const auto& one : commands()) {
        const auto line = parse_words({one.name, "--help"});

        CHECK(line.wants_help);
        REQUIRE(line.chosen != nullptr);
        const auto help = help_of(*line.chosen);
        CHECK(help.find(one.purpose) != std::string::npos);
        for (const auto& known : one.options)
            CHECK(help.find("--" + known.name) != std::string::npos);
        CHECK(overview(commands()).find("  " + one.name + " ") != std::string::npos);
    }
    CHECK(parse_words({"--version"}).wants_version);
    CHECK(parse_words({"--help"}).chosen == nullptr);
}

TEST_CASE("a value out of its bounds is refused by what is allowed", "[cli]")
{
    using namespace std::chrono_literals;
    const auto given =
        parse_words({"wait", "a", "--timeout", "soon", "--hold", "61", "--subject="}).given;

    CHECK(refusal_of([&] { given.duration("timeout", 1s, 24h); }) ==
          "--timeout must be a time from 1s to 1d such as 90s, 15m, 2h or 7d, not \"soon\"");
    CHECK(refusal_of([&] { given.integer("hold", 1, 60); }) ==
          "--hold must be an integer from 1 to 60, not \"61\"");
    CHECK(refusal_of([&] { given.text("subject", 1, 500); }) ==
          "--subject must be 1 to 500 characters long, not \"\"");
    CHECK_FALSE(given.integer("after", 0, 1));
}
