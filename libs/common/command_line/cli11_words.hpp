#pragma once

#include <span>
#include <string>
#include <vector>

namespace tempinbox {

// A command line's words as CLI11 wants them: the last one first. It takes `--name=` for an option
// whose value is the next word, so that becomes two words.
std::vector<std::string> to_cli11_words(std::span<const std::string> words);

// In plain words what CLI11 says as `--name: 1 required N missing`, or `name was given a disallowed
// flag override`.
std::string explain_cli11_mismatch(const std::string& mismatch);

} // namespace tempinbox
