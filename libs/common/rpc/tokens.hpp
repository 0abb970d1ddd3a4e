#pragma once

#include "common/core/secret.hpp"
#include "common/runtime/file_watch.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::rpc {

// Shared tokens, mainly for internal calls: one or two lines of a file, so that they can be
// rotated. The first is sent, each is accepted. The file is checked at most once a second and
// re-read when it changed.
class tokens
{
public:
    // Throws std::runtime_error when the file cannot be read or has no token of at least 16
    // characters.
    explicit tokens(std::string file,
                    std::chrono::milliseconds check_interval = std::chrono::seconds(1));
    // Checked by `files` instead, under the name of the setting.
    tokens(runtime::file_watch& files, std::string_view setting, std::string file);
    tokens(const tokens&) = delete;

    const secret& current();
    bool accepts(std::string_view token);

private:
    void reload_if_changed();

    std::string file_;
    std::vector<secret> values_;
    std::int64_t modified_ = 0;
    std::chrono::milliseconds check_interval_;
    std::chrono::steady_clock::time_point next_check_;
    runtime::file_watch::subscription watched_;
};

} // namespace tempinbox::rpc
