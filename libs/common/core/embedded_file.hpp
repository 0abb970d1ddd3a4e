#pragma once

#include <span>
#include <string_view>

namespace tempinbox {

// A text file of the source tree compiled into the program.
struct embedded_file
{
    std::string_view path;
    std::string_view content;
};

} // namespace tempinbox
