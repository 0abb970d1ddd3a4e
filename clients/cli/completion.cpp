#include "cli/completion.hpp"

namespace tempinbox::cli {
namespace {

std::vector<option> options_of(const command& one)
{
    auto options = one.options;
    for (auto& common : common_options())
        options.push_back(std::move(common));
    options.push_back({.name = "help", .meaning = "Prints this", .takes = option::kind::flag});
    return options;
}

std::string join(const std::vector<std::string>& words)
{
    std::string text;
    for (const auto& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

// Inside single quotes of any of the shells; meanings have none of these letters but for an
// apostrophe.
std::string quoted_text(const std::string& text, std::string_view special)
{
    std::string kept;
    for (const char c : text) {
        if (c == '\'')
            kept += "’";
        else if (special.find(c) != std::string_view::npos)
            kept += std::string("\\") + c;
        else
            kept += c;
    }
    return "'" + kept + "'";
}

std::string bash_values(const option& known)
{
    if (known.takes == option::kind::flag)
        return {};
    return "            --" + known.name + ") mapfile -t COMPREPLY < <(" +
           (known.is_file ? "compgen -f -- \"$word\""
                          : "compgen -W '" + join(known.choices) + "' -- \"$word\"") +
           "); return ;;\n";
}

std::string bash_script(const std::vector<command>& commands)
{
    std::vector<std::string> names;
    std::string cases;
    std::string values;
    for (const auto& one : commands) {
        names.push_back(one.name);
        std::vector<std::string> words;
        for (const auto& known : options_of(one))
            words.push_back("--" + known.name);
        cases += "        " + one.name + ") options='" + join(words) + "'; words='" +
                 join(one.takes.choices) + "' ;;\n";
        values += "        " + one.name + ") case $before in\n";
        for (const auto& known : options_of(one))
            values += bash_values(known);
        values += "            esac ;;\n";
    }
    return R"(# bash completion of tempinbox
_tempinbox() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= options= words= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --base-url|--key-file|--ca-file) ((i++)) ;;
        -*) ;;
        *) command=${COMP_WORDS[i]}; break ;;
        esac
    done
    if [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W ')" +
           join(names) + R"( --help --version' -- "$word")
        return
    fi
    case $command in
)" + values +
           R"(    esac
    case $command in
)" + cases +
           R"(    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    fi
}
complete -F _tempinbox tempinbox
)";
}

std::string zsh_option(const option& known)
{
    constexpr std::string_view special = "[]:\\";
    auto spec = quoted_text("--" + known.name, "");
    spec.pop_back();
    const auto meaning = quoted_text(known.meaning, special);
    spec += "[" + meaning.substr(1, meaning.size() - 2) + "]";
    if (known.takes != option::kind::flag) {
        spec += ":" + known.value + ":";
        if (known.is_file)
            spec += "_files";
        else if (!known.choices.empty())
            spec += "(" + join(known.choices) + ")";
    }
    if (known.takes == option::kind::repeated)
        spec.insert(1, "*");
    return spec + "'";
}

std::string zsh_script(const std::vector<command>& commands)
{
    std::string names;
    std::string cases;
    for (const auto& one : commands) {
        names += "        " + quoted_text(one.name + ":" + one.purpose, "") + "\n";
        cases += "        " + one.name + ")\n            _arguments -s";
        for (const auto& known : options_of(one))
            cases += " \\\n                " + zsh_option(known);
        if (one.takes.max > 0)
            cases += " \\\n                '*:" + one.takes.name + ":" +
                     (one.takes.choices.empty() ? "" : "(" + join(one.takes.choices) + ")") + "'";
        cases += "\n            ;;\n";
    }
    return R"(#compdef tempinbox
# zsh completion of tempinbox
_tempinbox() {
    local curcontext=$curcontext state line
    local -a commands
    commands=(
)" + names +
           R"(    )
    _arguments -C '--help[Prints this]' '--version[Prints the version]' '1:command:->command' '*::argument:->argument'
    case $state in
    command) _describe -t commands command commands ;;
    argument)
        case $words[1] in
)" + cases +
           R"(        esac ;;
    esac
}
if [[ $funcstack[1] == _tempinbox ]]; then
    _tempinbox "$@"
else
    compdef _tempinbox tempinbox
fi
)";
}

std::string fish_script(const std::vector<command>& commands)
{
    constexpr std::string_view special = "\\";
    std::string text = "# fish completion of tempinbox\ncomplete -c tempinbox -f\n";
    for (const auto& one : commands)
        text += "complete -c tempinbox -n __fish_use_subcommand -a " + one.name + " -d " +
                quoted_text(one.purpose, special) + "\n";
    for (const auto& one : commands) {
        const auto begin =
            "complete -c tempinbox -n '__fish_seen_subcommand_from " + one.name + "'";
        for (const auto& known : options_of(one)) {
            text += begin + " -l " + known.name;
            if (known.takes != option::kind::flag)
                text += known.is_file ? " -rF" : " -x";
            if (!known.choices.empty())
                text += " -a '" + join(known.choices) + "'";
            text += " -d " + quoted_text(known.meaning, special) + "\n";
        }
        if (!one.takes.choices.empty())
            text += begin + " -a '" + join(one.takes.choices) + "'\n";
    }
    return text;
}

} // namespace

std::string completion_script(std::string_view shell, const std::vector<command>& commands)
{
    if (shell == "bash")
        return bash_script(commands);
    return shell == "zsh" ? zsh_script(commands) : fish_script(commands);
}

} // namespace tempinbox::cli
