#include "tempinboxctl/command_line.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

// Reads the words one by one. A command is two words, found among those that are not options.
class line_parser
{
public:
    line_parser(std::span<const std::string> words, const std::vector<command>& commands,
                const std::vector<std::string>& setting_names)
        : words_(words),
          commands_(commands),
          setting_names_(setting_names)
    {}

    parsed_line run()
    {
        while (next_ < words_.size()) {
            const auto& word = words_[next_++];
            if (word == "--help" || word == "-h")
                line_.wants_help = true;
            else if (word == "--" && !only_words_)
                only_words_ = true;
            else if (word.starts_with("--") && !only_words_)
                take_option(word.substr(2));
            else
                take_word(word);
        }
        if (line_.chosen)
            assign_positionals();
        return std::move(line_);
    }

private:
    void take_word(const std::string& word)
    {
        if (line_.chosen) {
            loose_.push_back(word);
            return;
        }
        if (line_.topic.empty()) {
            line_.topic = word;
            return;
        }
        const auto name = line_.topic + " " + word;
        const auto found = std::find_if(commands_.begin(), commands_.end(),
                                        [&](const command& one) { return one.name == name; });
        if (found != commands_.end())
            line_.chosen = &*found;
        else if (line_.problems.empty())
            line_.problems.push_back("there is no command " + quote(name));
    }

    void take_option(const std::string& text)
    {
        const auto equals = text.find('=');
        const auto name = text.substr(0, equals);
        const auto* known = find_option(name);
        const bool is_setting =
            std::find(setting_names_.begin(), setting_names_.end(), name) != setting_names_.end();
        if (!known && !is_setting) {
            line_.problems.push_back("--" + name + " is not known" +
                                     (line_.chosen ? " to " + quote(line_.chosen->name) : " here"));
            // The next word is probably its value: a second complaint would only confuse.
            if (equals == std::string::npos && next_ < words_.size() &&
                !words_[next_].starts_with("-"))
                ++next_;
            return;
        }
        if (known && known->takes == option::kind::flag) {
            if (equals != std::string::npos)
                line_.problems.push_back("--" + name + " takes no value");
            line_.given.options[name].emplace_back();
            return;
        }
        if (equals == std::string::npos && next_ == words_.size()) {
            line_.problems.push_back("--" + name + " needs a value");
            return;
        }
        const auto value = equals == std::string::npos ? words_[next_++] : text.substr(equals + 1);
        if (!known)
            line_.settings.push_back("--" + name + "=" + value);
        else
            keep(*known, value);
    }

    void keep(const option& known, const std::string& value)
    {
        auto& values = line_.given.options[known.name];
        if (!values.empty() && known.takes != option::kind::repeated)
            line_.problems.push_back("--" + known.name + " is given twice");
        values.push_back(value);
    }

    const option* find_option(const std::string& name) const
    {
        if (!line_.chosen)
            return nullptr;
        const auto& options = line_.chosen->options;
        const auto found = std::find_if(options.begin(), options.end(),
                                        [&](const option& one) { return one.name == name; });
        return found == options.end() ? nullptr : &*found;
    }

    // Words are assigned to the declared positionals from the left; if there are too few, the
    // optional ones stay empty.
    void assign_positionals()
    {
        const auto& declared = line_.chosen->positionals;
        const auto required = static_cast<std::size_t>(
            std::count_if(declared.begin(), declared.end(), [](const positional& argument) {
                return argument.needed == need::required;
            }));
        std::size_t spare = loose_.size() > required ? loose_.size() - required : 0;
        std::size_t used = 0;
        for (const auto& argument : declared) {
            const bool is_skipped = argument.needed == need::optional && spare == 0;
            if (is_skipped)
                continue;
            if (argument.needed == need::optional)
                --spare;
            if (used < loose_.size())
                line_.given.positionals[argument.name] = loose_[used++];
            else
                line_.problems.push_back(argument.name + " is missing: " + argument.meaning);
        }
        for (; used < loose_.size(); ++used)
            line_.problems.push_back("unexpected argument " + quote(loose_[used]));
        for (const auto& known : line_.chosen->options)
            if (known.takes == option::kind::required && !line_.given.has(known.name))
                line_.problems.push_back("--" + known.name + " is missing: " + known.meaning);
    }

    std::span<const std::string> words_;
    const std::vector<command>& commands_;
    const std::vector<std::string>& setting_names_;
    parsed_line line_;
    std::vector<std::string> loose_;
    std::size_t next_ = 0;
    bool only_words_ = false;
};

std::string usage_of(const command& shown)
{
    std::string text = "tempinboxctl " + shown.name;
    for (const auto& argument : shown.positionals)
        text +=
            argument.needed == need::required ? " " + argument.name : " [" + argument.name + "]";
    for (const auto& known : shown.options) {
        const auto flag = "--" + known.name + (known.value.empty() ? "" : " " + known.value);
        if (known.takes == option::kind::required)
            text += " " + flag;
        else
            text += " [" + flag + "]" + (known.takes == option::kind::repeated ? "…" : "");
    }
    return text;
}

} // namespace

parsed_line parse(std::span<const std::string> words, const std::vector<command>& commands,
                  const std::vector<std::string>& setting_names)
{
    return line_parser(words, commands, setting_names).run();
}

std::string help_of(const command& shown)
{
    std::string text = shown.purpose + "\n\n  " + usage_of(shown) + "\n\n";
    for (const auto& argument : shown.positionals)
        text += "  " + argument.name + "\n      " + argument.meaning + "\n";
    for (const auto& known : shown.options)
        text += "  --" + known.name + (known.value.empty() ? "" : " " + known.value) + "\n      " +
                known.meaning + "\n";
    text += "\nWith --output json the output is one JSON value. `tempinboxctl --help` lists the "
            "settings that say where the suite is.\n";
    return text;
}

std::string overview(const std::vector<command>& commands, std::string_view topic)
{
    std::size_t width = 0;
    for (const auto& one : commands)
        width = std::max(width, one.name.size());
    std::string text = "Commands (each has --help; ACCOUNT is an id or an email address)\n";
    for (const auto& one : commands)
        if (topic.empty() || one.name.starts_with(std::string(topic) + " "))
            text += "  " + one.name + std::string(width - one.name.size(), ' ') + "  " +
                    one.purpose + "\n";
    return text;
}

} // namespace tempinbox::ctl
