#pragma once

#include "common/core/errors.hpp"

#include <vector>

namespace tempinbox::testing {

// Every errc there is, also one added after the last of today: each has a name of its own.
inline std::vector<errc> every_errc()
{
    std::vector<errc> all;
    for (int value = 0; value < 100; ++value) {
        const auto code = static_cast<errc>(value);
        if (code == errc::internal || to_string(code) != to_string(errc::internal))
            all.push_back(code);
    }
    return all;
}

} // namespace tempinbox::testing
