#include "tempinboxctl/command_line.hpp"

#include "common/command_line/cli11_words.hpp"
#include "common/core/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace tempinbox::ctl {
namespace {

constexpr const char* help_footer =
    "With --output json the output is one JSON value. `tempinboxctl --help` lists the settings "
    "that say where the suite is.";

// The commands as CLI11 parses them: the first word of a command's name is a subcommand of the
// program, the second one, where there is one, a subcommand of that. At most one is taken at each
// level, so a value that is called like a command stays a value.
class command_tree
{
public:
    command_tree(const std::vector<command>& commands,
                 const std::vector<std::string>& setting_names)
        : setting_names_(setting_names)
    {
        root_.name("tempinboxctl");
        root_.set_help_flag("-h,--help", "Prints this, and exits");
        root_.require_subcommand(0, 1);
        for (const auto& declared : commands)
            add(declared);
        add_settings(root_);
    }

    CLI::App& root() { return root_; }

    // The program, then the topic and the command as far as they were given.
    std::vector<CLI::App*> path()
    {
        std::vector<CLI::App*> found{&root_};
        for (auto next = root_.get_subcommands(); !next.empty();
             next = found.back()->get_subcommands())
            found.push_back(next.front());
        return found;
    }

private:
    void add(const command& declared)
    {
        auto& added = *add_subcommand(declared);
        for (const auto& argument : declared.positionals)
            added.add_option(argument.name, CLI::callback_t(), argument.meaning)
                ->required(argument.needed == need::required);
        for (const auto& known : declared.options)
            add_option(added, known);
        added.footer(help_footer);
        add_settings(added);
    }

    CLI::App* add_subcommand(const command& declared)
    {
        const auto space = declared.name.find(' ');
        if (space == std::string::npos)
            return root_.add_subcommand(declared.name, declared.purpose);
        auto*& topic = topics_[declared.name.substr(0, space)];
        if (!topic) {
            topic = root_.add_subcommand(declared.name.substr(0, space));
            topic->require_subcommand(0, 1);
            add_settings(*topic);
        }
        return topic->add_subcommand(declared.name.substr(space + 1), declared.purpose);
    }

    static void add_option(CLI::App& to, const option& known)
    {
        const auto name = "--" + known.name;
        if (known.takes == option::kind::flag) {
            to.add_flag(name, known.meaning)->disable_flag_override();
            return;
        }
        // How often an option may be given is judged later, by a sentence of ours.
        to.add_option(name, CLI::callback_t(), known.meaning)
            ->type_name(known.takes == option::kind::repeated ? known.value + "..." : known.value)
            ->required(known.takes == option::kind::required)
            ->take_all();
    }

    // No command has an option that is called like a setting; CLI11 would throw.
    void add_settings(CLI::App& to)
    {
        for (const auto& name : setting_names_)
            to.add_option("--" + name, CLI::callback_t())->take_all();
    }

    CLI::App root_;
    const std::vector<std::string>& setting_names_;
    std::map<std::string, CLI::App*> topics_;
};

// What no option or argument took.
struct leftovers
{
    std::vector<std::string> options; // without their values
    std::vector<std::string> words;
};

leftovers find_leftovers(const std::vector<CLI::App*>& path)
{
    leftovers found;
    for (const auto* app : path)
        for (const auto& word : app->remaining(false))
            if (word == "--")
                continue;
            else if (word.starts_with("--"))
                found.options.push_back(word.substr(0, word.find('=')));
            else
                found.words.push_back(word);
    return found;
}

// Null if the words name no command, or not all of one.
const command* find_command(const std::vector<command>& commands,
                            const std::vector<std::string>& words)
{
    std::string name;
    for (const auto& word : words)
        name += (name.empty() ? "" : " ") + word;
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const command& one) { return one.name == name; });
    return found == commands.end() ? nullptr : &*found;
}

// Words are assigned to the declared positionals from the left; if there are too few, the
// optional ones stay empty.
void assign_positionals(parsed_line& line, const std::vector<std::string>& words)
{
    const auto& declared = line.chosen->positionals;
    const auto required = static_cast<std::size_t>(
        std::count_if(declared.begin(), declared.end(), [](const positional& argument) {
            return argument.needed == need::required;
        }));
    std::size_t spare = words.size() > required ? words.size() - required : 0;
    std::size_t used = 0;
    for (const auto& argument : declared) {
        if (argument.needed == need::optional && spare == 0)
            continue;
        if (argument.needed == need::optional)
            --spare;
        if (used < words.size())
            line.given.positionals[argument.name] = words[used++];
        else
            line.problems.push_back(argument.name + " is missing: " + argument.meaning);
    }
    for (; used < words.size(); ++used)
        line.problems.push_back("unexpected argument " + quote(words[used]));
}

void take_options(parsed_line& line, const CLI::App& app)
{
    for (const auto& known : line.chosen->options) {
        const auto* given = app.get_option("--" + known.name);
        if (given->count() > 0)
            line.given.options[known.name] = given->results();
        else if (known.takes == option::kind::required)
            line.problems.push_back("--" + known.name + " is missing: " + known.meaning);
        if (given->count() > 1 && known.takes != option::kind::repeated &&
            known.takes != option::kind::flag)
            line.problems.push_back("--" + known.name + " is given twice");
    }
}

// Reads what CLI11 took for the command, and says all that is missing or too much.
void take_command(parsed_line& line, const CLI::App& app, const leftovers& left)
{
    std::vector<std::string> words;
    for (const auto& argument : line.chosen->positionals)
        for (const auto& word : app.get_option(argument.name)->results())
            words.push_back(word);
    // After an unknown option a word is probably its value: a second complaint would only confuse.
    if (left.options.empty())
        words.insert(words.end(), left.words.begin(), left.words.end());
    assign_positionals(line, words);
    take_options(line, app);
}

void take_settings(parsed_line& line, const std::vector<CLI::App*>& path,
                   const std::vector<std::string>& setting_names)
{
    for (const auto* app : path)
        for (const auto& name : setting_names)
            for (const auto& value : app->get_option("--" + name)->results()) {
                auto& setting = line.settings.emplace_back("--");
                setting += name;
                setting += '=';
                setting += value;
            }
}

} // namespace

parsed_line parse(std::span<const std::string> words, const std::vector<command>& commands,
                  const std::vector<std::string>& setting_names)
{
    parsed_line line;
    command_tree tree(commands, setting_names);
    try {
        tree.root().parse(to_cli11_words(words));
    } catch (const CLI::CallForHelp&) {
        line.wants_help = true;
    } catch (const CLI::ArgumentMismatch& error) {
        line.problems.push_back(explain_cli11_mismatch(error.what()));
    } catch (const CLI::ParseError& error) {
        // Of what is missing or too much CLI11 names one thing only: judged below.
        const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
        if (code != CLI::ExitCodes::RequiredError && code != CLI::ExitCodes::ExtrasError)
            line.problems.emplace_back(error.what());
    }

    const auto path = tree.path();
    const auto left = find_leftovers(path);
    std::vector<std::string> name;
    for (std::size_t i = 1; i < path.size(); ++i)
        name.push_back(path[i]->get_name());
    line.chosen = find_command(commands, name);
    if (!line.chosen)
        name.insert(name.end(), left.words.begin(), left.words.end());
    line.topic = name.empty() ? "" : name[0];
    if (!line.chosen && name.size() > 1)
        line.problems.push_back("there is no command " + quote(name[0] + " " + name[1]));

    for (const auto& unknown : left.options)
        line.problems.push_back(unknown + " is not known" +
                                (line.chosen ? " to " + quote(line.chosen->name) : " here"));
    if (line.chosen && line.problems.size() == left.options.size())
        take_command(line, *path.back(), left);
    take_settings(line, path, setting_names);
    return line;
}

std::string help_of(const command& shown)
{
    const std::vector<std::string> no_settings;
    command_tree tree({shown}, no_settings);
    const auto* topic = tree.root().get_subcommands({}).front();
    if (shown.name.find(' ') == std::string::npos)
        return topic->help("tempinboxctl");
    return topic->get_subcommands({}).front()->help("tempinboxctl " + topic->get_name());
}

std::string overview(const std::vector<command>& commands, std::string_view topic)
{
    std::size_t width = 0;
    for (const auto& one : commands)
        width = std::max(width, one.name.size());
    std::string text = "Commands (each has --help; ACCOUNT is an id or an email address)\n";
    for (const auto& one : commands)
        if (topic.empty() || one.name == topic || one.name.starts_with(std::string(topic) + " "))
            text += "  " + one.name + std::string(width - one.name.size(), ' ') + "  " +
                    one.purpose + "\n";
    return text;
}

} // namespace tempinbox::ctl
