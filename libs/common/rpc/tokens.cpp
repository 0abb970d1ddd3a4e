#include "common/rpc/tokens.hpp"

#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"
#include "common/log/log.hpp"

#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

constexpr std::size_t min_characters = 16;
constexpr std::size_t max_tokens = 2;

// Changes whenever the file is written or replaced.
std::int64_t file_state(const std::string& file)
{
    struct stat state{};
    if (::stat(file.c_str(), &state) != 0)
        return 0;
    const auto time = std::int64_t{state.st_mtim.tv_sec} * 1'000'000'000 + state.st_mtim.tv_nsec;
    return time ^ static_cast<std::int64_t>(state.st_ino << 20) ^
           static_cast<std::int64_t>(state.st_size);
}

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

tokens::tokens(std::string file, std::chrono::milliseconds check_interval)
    : file_(std::move(file)),
      modified_(file_state(file_)),
      check_interval_(check_interval),
      next_check_(std::chrono::steady_clock::now() + check_interval)
{
    values_ = read_tokens(file_);
}

tokens::tokens(runtime::file_watch& files, std::string_view setting, std::string file)
    : file_(std::move(file)),
      check_interval_(0),
      next_check_(std::chrono::steady_clock::time_point::max()),
      watched_(files.watch(setting, {file_}, [this] { values_ = read_tokens(file_); }))
{}

const secret& tokens::current()
{
    reload_if_changed();
    return values_.front();
}

bool tokens::accepts(std::string_view token)
{
    reload_if_changed();
    bool is_accepted = false;
    for (const auto& value : values_)
        is_accepted = crypto::equal_constant_time(value.reveal(), token) || is_accepted;
    return is_accepted;
}

// A file read in the middle of a change is left for the next check.
void tokens::reload_if_changed()
{
    const auto now = std::chrono::steady_clock::now();
    if (now < next_check_)
        return;
    next_check_ = now + check_interval_;
    const auto state = file_state(file_);
    if (state == modified_)
        return;
    modified_ = state;
    try {
        values_ = read_tokens(file_);
        log::info("tokens reloaded", {{"file", file_}, {"tokens", values_.size()}});
    } catch (const std::exception& error) {
        // A file that is being replaced must not lock out callers: the old tokens stay.
        log::error("tokens not reloaded, the old ones stay in use",
                   {{"file", file_}, {"error", error.what()}});
    }
}

} // namespace tempinbox::rpc
