#pragma once

#include "common/core/secret.hpp"
#include "common/runtime/file_watch.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::rpc {

// Shared tokens, mainly for internal calls: one or two lines of a file, so that they can be
// rotated. The first is sent, each is accepted.
class tokens
{
public:
    // Read once. Throws std::runtime_error when the file cannot be read or has no token of at least
    // 16 characters.
    explicit tokens(const std::string& file);
    // Read again when the file changes, under the name of the setting; a file that cannot be used
    // leaves the old tokens. Throws as above.
    tokens(runtime::file_watch& files, std::string_view setting, std::string file);
    tokens(const tokens&) = delete;

    const secret& current() const { return values_.front(); }
    bool accepts(std::string_view token) const;

private:
    std::vector<secret> values_;
    runtime::file_watch::subscription watched_;
};

} // namespace tempinbox::rpc
