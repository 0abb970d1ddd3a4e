#pragma once

#include <string>
#include <string_view>

namespace tempinbox::gateway::mcp {

// Linear, however often it occurs.
inline std::string replace_all(std::string_view text, std::string_view what, std::string_view with)
{
    std::string replaced;
    for (;;) {
        const auto at = text.find(what);
        replaced.append(text.substr(0, at));
        if (at == std::string_view::npos)
            return replaced;
        replaced.append(with);
        text.remove_prefix(at + what.size());
    }
}

} // namespace tempinbox::gateway::mcp
