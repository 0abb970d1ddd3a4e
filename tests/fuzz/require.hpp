#pragma once

#include "common/core/text.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tempinbox::fuzz {

// An invariant for any input: libFuzzer keeps the input of a process that aborts.
inline void require(bool holds, const char* what)
{
    if (holds)
        return;
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
}

// What PostgreSQL and JSON accept: valid UTF-8 without NUL.
inline void require_clean(std::string_view text, const char* what)
{
    require(is_valid_utf8(text) && text.find('\0') == std::string_view::npos, what);
}

} // namespace tempinbox::fuzz
