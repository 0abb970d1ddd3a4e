#include "common/config/reader.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace tempinbox;

namespace {

std::vector<config::setting> declared_settings()
{
    config::reader reader;
    reader.text("smtp-listen", "127.0.0.1:25", "Where");
    reader.integer("writers", 2, 1, 64, "Writers");
    reader.flag("allow-http", false, "Http");
    reader.required_text("database", "DSN");
    return reader.declared();
}

config::command_line read(std::vector<const char*> words, bool takes_arguments = false)
{
    words.insert(words.begin(), "program");
    return config::read_command_line(static_cast<int>(words.size()), words.data(),
                                     declared_settings(), takes_arguments);
}

// Sets an environment variable during its lifetime.
class scoped_variable
{
public:
    scoped_variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~scoped_variable() { ::unsetenv(name_); }
    scoped_variable(const scoped_variable&) = delete;

private:
    const char* name_;
};

class scoped_file
{
public:
    explicit scoped_file(const std::string& content)
        : path_(std::filesystem::temp_directory_path() / "tempinbox-command-line-test.conf")
    {
        std::ofstream(path_) << content;
    }
    ~scoped_file() { std::filesystem::remove(path_); }
    scoped_file(const scoped_file&) = delete;
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

} // namespace

TEST_CASE("flags are taken in both forms", "[config]")
{
    const auto line = read({"--writers=3", "--smtp-listen", "0.0.0.0:2525"});

    CHECK(line.problems.empty());
    CHECK(line.requested == config::command_line::action::run);
    CHECK(line.values ==
          std::map<std::string, std::string>{{"writers", "3"}, {"smtp-listen", "0.0.0.0:2525"}});
}

TEST_CASE("a flag of truth may stand alone", "[config]")
{
    CHECK(read({"--allow-http"}).values.at("allow-http") == "true");
    CHECK(read({"--allow-http", "false"}).values.at("allow-http") == "false");
    CHECK(read({"--allow-http", "--writers=3"}).values.at("allow-http") == "true");
}

TEST_CASE("flags win over environment over file", "[config]")
{
    const scoped_file file(
        "# a comment\nwriters = 5\ndatabase = from-file\nsmtp-listen = file:1\n");
    const scoped_variable writers("TEMPINBOX_WRITERS", "4");
    const scoped_variable database("TEMPINBOX_DATABASE", "from-environment");

    const auto line = read({"--writers=3", "--config", file.path().c_str()});

    CHECK(line.problems.empty());
    CHECK(line.values.at("writers") == "3");
    CHECK(line.values.at("database") == "from-environment");
    CHECK(line.values.at("smtp-listen") == "file:1");
}

TEST_CASE("an empty variable is one that is not set", "[config]")
{
    const scoped_variable writers("TEMPINBOX_WRITERS", "");
    CHECK_FALSE(read({}).values.contains("writers"));
}

TEST_CASE("variables that are no setting are reported, with what may have been meant", "[config]")
{
    const scoped_variable known("TEMPINBOX_WRITERS", "4");
    const scoped_variable mistyped("TEMPINBOX_SMPT_LISTEN", "0.0.0.0:25");
    const scoped_variable foreign("TEMPINBOX_COLOUR_OF_THE_SKY", "blue");
    const scoped_variable config("TEMPINBOX_CONFIG", "");
    // Set by Kubernetes for a service tempinbox-gateway.
    const scoped_variable host("TEMPINBOX_GATEWAY_SERVICE_HOST", "10.0.0.1");
    const scoped_variable port("TEMPINBOX_GATEWAY_SERVICE_PORT_HTTP", "80");
    const scoped_variable link("TEMPINBOX_GATEWAY_PORT", "tcp://10.0.0.1:80");
    const scoped_variable address("TEMPINBOX_GATEWAY_PORT_80_TCP_ADDR", "10.0.0.1");
    const scoped_variable no_link("TEMPINBOX_SMTP_PORT", "25");

    std::map<std::string, std::string> reported;
    for (const auto& one : read({}).unknown_variables)
        reported.emplace(one.name, one.closest);
    // Set by the test run itself.
    std::erase_if(reported,
                  [](const auto& entry) { return entry.first.starts_with("TEMPINBOX_TEST_"); });

    CHECK(reported ==
          std::map<std::string, std::string>{{"TEMPINBOX_COLOUR_OF_THE_SKY", ""},
                                             {"TEMPINBOX_SMPT_LISTEN", "TEMPINBOX_SMTP_LISTEN"},
                                             {"TEMPINBOX_SMTP_PORT", ""}});
}

TEST_CASE("unknown variables are listed in one line", "[config]")
{
    CHECK(config::list_unknown_variables({{"TEMPINBOX_API", ""},
                                          {"TEMPINBOX_SMPT_LISTEN", "TEMPINBOX_SMTP_LISTEN"},
                                          {"TEMPINBOX_URL", ""}}) ==
          "TEMPINBOX_API, TEMPINBOX_SMPT_LISTEN (did you mean TEMPINBOX_SMTP_LISTEN?), "
          "TEMPINBOX_URL");
    CHECK(config::list_unknown_variables({}).empty());
}

TEST_CASE("unknown flags, lines and arguments are problems, all at once", "[config]")
{
    const scoped_file file("writer = 5\n");

    const auto line =
        read({"--writes=3", "--colour", "blue", "--config", file.path().c_str(), "stray"});

    REQUIRE(line.problems.size() == 4);
    CHECK(line.problems[0] == "--writes is not a setting; did you mean writers?");
    CHECK(line.problems[1] == "--colour is not a setting");
    CHECK(line.problems[2] == "unexpected argument \"stray\"");
    CHECK(line.problems[3] == file.path() + ": writer is not a setting; did you mean writers?");
}

TEST_CASE("an unreadable or broken file is a problem", "[config]")
{
    const scoped_file file("this is no line\n");

    CHECK(read({"--config=/does/not/exist"}).problems.size() == 1);
    CHECK(read({"--config", file.path().c_str()}).problems.size() == 1);
}

TEST_CASE("a line of the file without a value is a problem, whatever it names", "[config]")
{
    const scoped_file file("[general]\n; a comment\n\nwriters\n");

    const auto line = read({"--config", file.path().c_str()});

    CHECK(line.problems ==
          std::vector<std::string>{file.path() + ": a line has no =: \"writers\""});
    CHECK(line.values.empty());
}

TEST_CASE("a flag without its value is a problem", "[config]")
{
    CHECK(read({"--writers"}).problems.size() == 1);
    CHECK(read({"--writers", "--check-config"}).problems ==
          std::vector<std::string>{"--writers needs a value"});
}

TEST_CASE("a flag without a name is a problem", "[config]")
{
    for (const auto* word : {"---", "--=x", "-=x"})
        CHECK(read({word}).problems.size() == 1);
}

TEST_CASE("positional arguments are kept in order where they are allowed", "[config]")
{
    const auto line = read({"account", "create", "--writers=3", "x@example.com"}, true);

    CHECK(line.problems.empty());
    CHECK(line.arguments == std::vector<std::string>{"account", "create", "x@example.com"});
}

TEST_CASE("help wins over version over check-config", "[config]")
{
    using action = config::command_line::action;
    CHECK(read({"--check-config"}).requested == action::check_config);
    CHECK(read({"--check-config", "--version"}).requested == action::show_version);
    CHECK(read({"--print-settings", "--check-config"}).requested == action::print_settings);
    CHECK(read({"--version", "-h"}).requested == action::show_help);
}

TEST_CASE("abbreviations are not guessed", "[config]")
{
    CHECK(read({"--writ=3"}).problems.size() == 1);
}

TEST_CASE("help shows default, meaning, range and environment name", "[config]")
{
    const auto text = config::help_text("tempinbox-x", "does x", declared_settings());

    CHECK(text.find("tempinbox-x: does x") == 0);
    CHECK(text.find("  --writers=2\n      Writers (1 to 64)\n      TEMPINBOX_WRITERS\n") !=
          std::string::npos);
    CHECK(text.find("PostgreSQL\n  --database\n      DSN (required)\n") != std::string::npos);
    CHECK(text.find("--check-config") != std::string::npos);
}

TEST_CASE("settings of OpenTelemetry are read from its own variables, after ours", "[config]")
{
    config::reader reader;
    reader.text("otel-service-name", "", "Name");
    reader.text("service-name", "", "Not OpenTelemetry's");
    const std::vector<const char*> words{"program"};
    const auto name_read = [&] {
        return config::read_command_line(1, words.data(), reader.declared()).values;
    };
    const scoped_variable standard("OTEL_SERVICE_NAME", "standard");
    const scoped_variable other("SERVICE_NAME", "other");

    CHECK(name_read() == std::map<std::string, std::string>{{"otel-service-name", "standard"}});

    const scoped_variable ours("TEMPINBOX_OTEL_SERVICE_NAME", "ours");
    CHECK(name_read() == std::map<std::string, std::string>{{"otel-service-name", "ours"}});
}
