#include "cli/command_line.hpp"

#include "common/command_line/cli11_words.hpp"
#include "common/core/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace tempinbox::cli {
namespace {

constexpr const char* footer = "`tempinbox --help` lists settings and exit codes.";

constexpr const char* settings_help =
    R"(Settings
  TEMPINBOX_BASE_URL  the service, such as https://mail.example.com; or --base-url URL
  TEMPINBOX_API_KEY   the API key; or --key-file FILE, which only its owner may read (0600).
                      Without either: $XDG_CONFIG_HOME/tempinbox/key, ~/.config/tempinbox/key
  --ca-file FILE      certificates to trust (PEM) in place of the system's
  --json              prints JSON, as the API has it; every command takes it

Exit codes
  0  done
  1  not in time: no email matched (with --none: one came)
  2  the command line, a setting or a value is wrong
  3  the API key or the plan is refused
  4  no such inbox or email
  5  a limit: requests of the day or the second, inboxes of the plan
  6  the service cannot be reached, or failed
  7  this machine failed, or the target of listen
  8  conflict: the address is taken
)";

// `option` in this namespace is ours; CLI11 has its own.
void add_option(CLI::App& to, const cli::option& known)
{
    const auto name = "--" + known.name;
    if (known.takes == cli::option::kind::flag) {
        to.add_flag(name, known.meaning)->disable_flag_override();
        return;
    }
    to.add_option(name, CLI::callback_t(), known.meaning)
        ->type_name(known.takes == cli::option::kind::repeated ? known.value + "..." : known.value)
        ->required(known.is_required)
        ->take_all();
}

// The commands as CLI11 parses them. How often an option may be given, and what is missing, is
// judged afterwards, by sentences of ours.
class parser
{
public:
    explicit parser(const std::vector<command>& commands)
    {
        root_.name("tempinbox");
        root_.set_help_flag("-h,--help", "Prints this, and exits");
        root_.require_subcommand(0, 1);
        root_.allow_extras();
        root_.add_flag("--version")->description("Prints the version, and exits");
        for (const auto& known : common_options())
            add_option(root_, known);
        for (const auto& declared : commands)
            add(declared);
    }

    CLI::App& root() { return root_; }
    CLI::App* chosen()
    {
        const auto found = root_.get_subcommands();
        return found.empty() ? nullptr : found.front();
    }

private:
    void add(const command& declared)
    {
        auto& added = *root_.add_subcommand(declared.name, declared.purpose);
        if (declared.takes.max > 0)
            added.add_option(declared.takes.name, CLI::callback_t(), declared.takes.meaning)
                ->type_name(declared.takes.max > 1 ? "..." : "")
                ->required(declared.takes.min > 0)
                ->expected(1, static_cast<int>(declared.takes.max))
                ->allow_extra_args(declared.takes.max > 1)
                ->take_all();
        for (const auto& known : declared.options)
            add_option(added, known);
        for (const auto& known : common_options())
            add_option(added, known);
        added.allow_extras();
        added.footer(footer);
    }

    CLI::App root_;
};

void check_choice(parsed_line& line, const std::string& what, const std::string& given,
                  const std::vector<std::string>& choices)
{
    if (choices.empty() || std::find(choices.begin(), choices.end(), given) != choices.end())
        return;
    line.problems.push_back(what + " must be one of " + join_list(choices) + ", not " +
                            quote(given));
}

void take_option(parsed_line& line, const CLI::App& app, const cli::option& known)
{
    const auto* given = app.get_option("--" + known.name);
    if (given->count() == 0)
        return;
    auto& values = line.given.options[known.name];
    for (const auto& value : given->results()) {
        if (known.takes != cli::option::kind::flag)
            check_choice(line, "--" + known.name, value, known.choices);
        values.push_back(value);
    }
    if (known.takes == cli::option::kind::single && values.size() > 1)
        line.problems.push_back("--" + known.name + " is given twice");
}

void take_words(parsed_line& line, const CLI::App& app)
{
    const auto& takes = line.chosen->takes;
    if (takes.max > 0)
        line.given.words = app.get_option(takes.name)->results();
    auto& words = line.given.words;
    if (words.size() < takes.min)
        line.problems.push_back(takes.name + " is missing: " + takes.meaning);
    for (; words.size() > takes.max; words.pop_back())
        line.problems.push_back("unexpected argument " + quote(words.back()));
    for (const auto& word : words)
        check_choice(line, takes.name, word, takes.choices);
}

void take_extras(parsed_line& line, const CLI::App& app)
{
    for (const auto& word : app.remaining(false)) {
        if (word == "--")
            continue;
        const bool is_option = word.starts_with("-") && word.size() > 1;
        if (is_option) {
            line.problems.push_back("there is no option " + quote(word.substr(0, word.find('='))));
            return; // what follows is probably its value
        }
        line.problems.push_back((line.chosen ? "unexpected argument " : "there is no command ") +
                                quote(word));
        if (!line.chosen)
            return;
    }
}

std::string names_of(const std::vector<command>& commands)
{
    std::vector<std::string> names;
    names.reserve(commands.size());
    for (const auto& one : commands)
        names.push_back(one.name);
    return join_list(names);
}

} // namespace

parsed_line parse(std::span<const std::string> words, const std::vector<command>& commands)
{
    parsed_line line;
    parser tree(commands);
    try {
        tree.root().parse(to_cli11_words(words));
    } catch (const CLI::CallForHelp&) {
        line.wants_help = true;
    } catch (const CLI::ArgumentMismatch& error) {
        line.problems.push_back(explain_cli11_mismatch(error.what()));
    } catch (const CLI::ParseError& error) {
        // CLI11 tells what is wrong by exceptions. Of what is missing it names one thing only:
        // judged below.
        const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
        if (code != CLI::ExitCodes::RequiredError && code != CLI::ExitCodes::ExtrasError)
            line.problems.emplace_back(error.what());
    }

    const auto* app = tree.chosen();
    if (app)
        line.chosen = &*std::find_if(commands.begin(), commands.end(), [&](const command& one) {
            return one.name == app->get_name();
        });
    line.wants_version = tree.root().get_option("--version")->count() > 0;
    if (line.wants_help || line.wants_version || !line.problems.empty())
        return line;

    take_extras(line, app ? *app : tree.root());
    for (const auto& known : common_options()) {
        take_option(line, tree.root(), known);
        if (app)
            take_option(line, *app, known);
    }
    if (!line.chosen) {
        line.problems.push_back("the commands are " + names_of(commands));
        return line;
    }
    if (line.problems.empty())
        take_words(line, *app);
    for (const auto& known : line.chosen->options) {
        take_option(line, *app, known);
        if (known.is_required && !line.given.has(known.name) && line.problems.empty())
            line.problems.push_back("--" + known.name + " is missing: " + known.meaning);
    }
    return line;
}

std::string help_of(const command& shown)
{
    const std::vector<command> alone{shown};
    parser tree(alone);
    return tree.root().get_subcommands({}).front()->help("tempinbox");
}

std::string overview(const std::vector<command>& commands)
{
    std::string text = "Inboxes for tests, demos and sign-ups, from the command line.\n\n"
                       "Usage: tempinbox COMMAND [OPTIONS]\n\nCommands (each has --help)\n";
    for (const auto& one : commands)
        text += "  " + one.name + std::string(12 - one.name.size(), ' ') + one.purpose + "\n";
    return text + "\n" + settings_help;
}

} // namespace tempinbox::cli
