#include "common/rpc/tokens.hpp"

#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"
#include "common/log/log.hpp"

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

constexpr std::size_t shortest_token = 16;

std::int64_t change_time(const std::string& file)
{
    struct stat info{};
    return stat(file.c_str(), &info) == 0 ? info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec : 0;
}

std::int64_t steady_millis()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<secret> read_tokens(const std::string& file)
{
    std::ifstream in(file);
    if (!in)
        throw std::runtime_error("the file of RPC tokens cannot be read: " + file);
    std::stringstream text;
    text << in.rdbuf();
    std::vector<secret> values;
    for (auto& line : split_list(text.str(), '\n'))
        if (line.size() >= shortest_token && values.size() < 2)
            values.emplace_back(std::move(line));
    if (values.empty())
        throw std::runtime_error("the file of RPC tokens has no line of at least 16 characters: " + file);
    return values;
}

} // namespace

tokens::tokens(std::string file)
    : file_(std::move(file)), values_(read_tokens(file_)), modified_(change_time(file_)), next_look_(steady_millis() + 1'000)
{
}

void tokens::reload_if_changed()
{
    const auto now = steady_millis();
    if (now < next_look_)
        return;
    next_look_ = now + 1'000;
    const auto modified = change_time(file_);
    if (modified == modified_)
        return;
    try {
        values_ = read_tokens(file_);
        modified_ = modified;
        log::info("RPC tokens read again", {{"count", values_.size()}});
    } catch (const std::exception& error) {
        log::error("RPC tokens not read again, the old ones stay", {{"reason", error.what()}});
    }
}

const secret& tokens::current()
{
    reload_if_changed();
    return values_.front();
}

bool tokens::accepts(std::string_view token)
{
    reload_if_changed();
    bool accepted = false;
    for (const auto& known : values_)
        accepted |= crypto::equal_constant_time(known.reveal(), token);
    return accepted;
}

} // namespace tempinbox::rpc
