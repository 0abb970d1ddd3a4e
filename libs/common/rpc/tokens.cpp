#include "common/rpc/tokens.hpp"

#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

constexpr std::size_t min_characters = 16;
constexpr std::size_t max_tokens = 2;

std::vector<secret> read_tokens(const std::string& file)
{
    std::ifstream in(file, std::ios::binary);
    std::ostringstream content;
    content << in.rdbuf();
    if (!in)
        throw std::runtime_error("cannot read the token file " + file);
    std::vector<secret> tokens;
    for (auto& line : split_list(content.str(), '\n')) {
        if (line.size() < min_characters)
            throw std::runtime_error("a token in " + file + " is shorter than " +
                                     std::to_string(min_characters) + " characters");
        tokens.emplace_back(std::move(line));
    }
    if (tokens.empty() || tokens.size() > max_tokens)
        throw std::runtime_error("the token file " + file +
                                 " must have one or two lines, a token each");
    return tokens;
}

} // namespace

tokens::tokens(const std::string& file) : values_(read_tokens(file)) {}

tokens::tokens(runtime::file_watch& files, std::string_view setting, std::string file)
    : watched_(files.watch(setting, {file}, [this, file] { values_ = read_tokens(file); }))
{}

bool tokens::accepts(std::string_view token) const
{
    bool is_accepted = false;
    for (const auto& value : values_)
        is_accepted = crypto::equal_constant_time(value.reveal(), token) || is_accepted;
    return is_accepted;
}

} // namespace tempinbox::rpc
