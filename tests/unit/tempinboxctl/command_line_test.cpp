#include "tempinboxctl/command_line.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::ctl;

namespace {

const std::vector<std::string> setting_names{"database", "output"};

const std::vector<command>& commands()
{
    static const auto all = all_commands();
    return all;
}

parsed_line parse_words(const std::vector<std::string>& words)
{
    return parse(words, commands(), setting_names);
}

} // namespace

TEST_CASE("a command is words, with its options and the settings in any order", "[tempinboxctl]")
{
    const auto line = parse_words({"--output", "json", "account", "create", "--plan=pro",
                                   "--database", "dsn", "--email", "a@b"});

    REQUIRE(line.problems.empty());
    REQUIRE(line.chosen);
    CHECK(line.chosen->name == "account create");
    CHECK(line.given.value("plan") == "pro");
    CHECK(line.given.value("email") == "a@b");
    CHECK(line.settings == std::vector<std::string>{"--output=json", "--database=dsn"});
}

TEST_CASE("a command may be one word", "[tempinboxctl]")
{
    const auto line = parse_words({"--database", "dsn", "doctor", "--json", "--certificate",
                                   "a.pem", "--certificate=b.pem", "--output=json"});

    REQUIRE(line.problems.empty());
    REQUIRE(line.chosen);
    CHECK(line.chosen->name == "doctor");
    CHECK(line.given.has("json"));
    CHECK(line.given.values("certificate") == std::vector<std::string>{"a.pem", "b.pem"});
    CHECK(line.settings == std::vector<std::string>{"--database=dsn", "--output=json"});
    CHECK(parse_words({"smoke", "now"}).problems ==
          std::vector<std::string>{"unexpected argument \"now\""});
    CHECK(parse_words({"smoke", "--key", "x"}).problems ==
          std::vector<std::string>{"--key is not known to \"smoke\""});
    CHECK(help_of(*parse_words({"doctor"}).chosen).find("Usage: tempinboxctl doctor [OPTIONS]\n") !=
          std::string::npos);
    CHECK(overview(commands(), "doctor").find("doctor") != std::string::npos);
}

TEST_CASE("neither a key nor a password is taken from the command line of smoke and bootstrap",
          "[tempinboxctl]")
{
    for (const auto* name : {"smoke", "bootstrap"})
        for (const auto* option : {"--api-key", "--key", "--password"})
            CHECK_FALSE(parse_words({name, option, "x"}).problems.empty());
}

TEST_CASE("an optional argument before a required one is skipped when one word is given",
          "[tempinboxctl]")
{
    const auto alone = parse_words({"key", "revoke", "k1"});
    const auto both = parse_words({"key", "revoke", "a@b", "k1"});

    CHECK(alone.problems.empty());
    CHECK(alone.given.at("KEY") == "k1");
    CHECK_FALSE(alone.given.positional_of("ACCOUNT"));
    CHECK(both.given.at("KEY") == "k1");
    CHECK(both.given.at("ACCOUNT") == "a@b");
}

TEST_CASE("repeated options keep every value, others may be given once", "[tempinboxctl]")
{
    const auto line =
        parse_words({"rule", "create", "a@b", "--name", "n", "--webhook", "w", "--when",
                     "subject contains x", "--when=from equals y", "--disabled"});
    const auto twice = parse_words({"key", "create", "a@b", "--label", "x", "--label", "y"});

    CHECK(line.problems.empty());
    CHECK(line.given.values("when") ==
          std::vector<std::string>{"subject contains x", "from equals y"});
    CHECK(line.given.has("disabled"));
    CHECK(twice.problems == std::vector<std::string>{"--label is given twice"});
}

TEST_CASE("what is wrong with a line is said, all of it", "[tempinboxctl]")
{
    struct row
    {
        std::vector<std::string> words;
        std::vector<std::string> problems;
    };
    const row rows[] = {
        {{"account", "crate"}, {"there is no command \"account crate\""}},
        {{"account", "create"},
         {"--email is missing: email address, unique",
          "--plan is missing: free, starter, pass7, pro, business or premium"}},
        {{"account", "show"}, {"ACCOUNT is missing: id or email address of the account"}},
        {{"account", "show", "a", "b"}, {"unexpected argument \"b\""}},
        {{"account", "show", "a", "--pln", "pro"}, {"--pln is not known to \"account show\""}},
        {{"account", "show", "a", "--output"}, {"--output needs a value"}},
        {{"key", "create", "a", "--label"}, {"--label needs a value"}},
        {{"rule", "create", "a", "--name", "n", "--webhook", "w", "--disabled=yes"},
         {"--disabled takes no value"}},
    };

    for (const auto& row : rows)
        CHECK(parse_words(row.words).problems == row.problems);
}

TEST_CASE("help is found everywhere on the line", "[tempinboxctl]")
{
    CHECK(parse_words({"--help"}).wants_help);
    CHECK(parse_words({"account", "--help"}).topic == "account");
    CHECK(parse_words({"account", "create", "--help"}).chosen->name == "account create");
}

TEST_CASE("after two dashes everything is a word", "[tempinboxctl]")
{
    const auto line = parse_words({"account", "show", "--", "--odd@example.com"});

    CHECK(line.problems.empty());
    CHECK(line.given.at("ACCOUNT") == "--odd@example.com");
}

TEST_CASE("a value that is called like a command is a value", "[tempinboxctl]")
{
    const auto line = parse_words({"key", "create", "account", "--label", "show"});

    CHECK(line.problems.empty());
    CHECK(line.chosen->name == "key create");
    CHECK(line.given.at("ACCOUNT") == "account");
    CHECK(line.given.value("label") == "show");
}

TEST_CASE("a value may be empty or begin with a dash", "[tempinboxctl]")
{
    const auto line =
        parse_words({"account", "create", "--email=", "--plan", "-p", "--password", "-"});

    CHECK(line.problems.empty());
    CHECK(line.given.value("email") == "");
    CHECK(line.given.value("plan") == "-p");
    CHECK(line.given.value("password") == "-");
}

TEST_CASE("help says how a command is called and what it cannot do without", "[tempinboxctl]")
{
    const auto help = help_of(*parse_words({"key", "create"}).chosen);

    CHECK(help.find("Usage: tempinboxctl key create [OPTIONS] ACCOUNT\n") != std::string::npos);
    CHECK(help.find("--label L REQUIRED") != std::string::npos);
    CHECK(help.find("what the key is for") != std::string::npos);
    CHECK(help.find("--database") == std::string::npos);
}

TEST_CASE("every command has a purpose, a way to run, and help that names all it takes",
          "[tempinboxctl]")
{
    for (const auto& one : commands()) {
        INFO(one.name);
        CHECK_FALSE(one.purpose.empty());
        CHECK(one.run);
        const auto help = help_of(one);
        for (const auto& known : one.options)
            CHECK(help.find("--" + known.name) != std::string::npos);
        CHECK(overview(commands()).find(one.name) != std::string::npos);
    }
}

TEST_CASE("numbers and truths of options are checked", "[tempinboxctl]")
{
    const auto line = parse_words(
        {"plan", "set", "pro", "--webhooks", "7", "--api-keys", "-1", "--api-access", "yes"});

    CHECK(line.given.integer("webhooks", 0, 10).value() == 7);
    CHECK(line.given.integer("live-inboxes", 0, 10).value() == std::nullopt);
    CHECK(line.given.integer("api-keys", 0, 10).error().message ==
          "--api-keys must be an integer from 0 to 10, not \"-1\"");
    CHECK(line.given.truth("api-access").error().message ==
          "--api-access must be true or false, not \"yes\"");
}

TEST_CASE("restore check has no option that changes something", "[tempinboxctl][restore]")
{
    CHECK(parse_words({"restore", "settle", "--moment", "2026-11-21T10:00:00Z", "--keep-keys",
                       "--set-offsets", "--dry-run", "--force"})
              .problems.empty());
    for (const auto* const option : {"--set-offsets", "--keep-keys", "--force"})
        CHECK(parse_words({"restore", "check", option}).problems ==
              std::vector<std::string>{std::string(option) + " is not known to \"restore check\""});
}
