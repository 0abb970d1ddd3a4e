#include "common/command_line/cli11_words.hpp"

#include <algorithm>

namespace tempinbox {

std::vector<std::string> to_cli11_words(std::span<const std::string> words)
{
    std::vector<std::string> prepared;
    for (const auto& word : words) {
        const bool has_empty_value =
            word.starts_with("--") && word.size() > 3 && word.find('=') == word.size() - 1;
        prepared.push_back(has_empty_value ? word.substr(0, word.size() - 1) : word);
        if (has_empty_value)
            prepared.emplace_back();
    }
    std::reverse(prepared.begin(), prepared.end());
    return prepared;
}

std::string explain_cli11_mismatch(const std::string& mismatch)
{
    const auto name = mismatch.substr(0, mismatch.find_first_of(": "));
    return name.starts_with("--") ? name + " needs a value" : "--" + name + " takes no value";
}

} // namespace tempinbox
