#pragma once

#include "common/core/secret.hpp"

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
    const secret& current();
    bool accepts(std::string_view token);

private:
    void reload_if_changed();

    std::string file_;
    std::vector<secret> values_;
    std::int64_t modified_ = 0;
    std::chrono::milliseconds check_interval_;
    std::chrono::steady_clock::time_point next_check_;
};

} // namespace tempinbox::rpc
