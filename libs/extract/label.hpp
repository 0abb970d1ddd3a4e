#pragma once

#include <cstddef>

namespace tempinbox::extract {

// A noun that says what a number near it is.
struct label
{
    enum class meaning { something_else, perhaps_a_code, a_code };

    std::size_t begin = 0;
    std::size_t end = 0;
    meaning says = meaning::perhaps_a_code;
};

} // namespace tempinbox::extract
