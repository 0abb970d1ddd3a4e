#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::cli {

// Text of strangers for a terminal: no control characters (which could move the cursor or retype
// what is on the screen), nothing that turns the direction of writing. `line`: in one line.
std::string printable(std::string_view utf8);
std::string printable_line(std::string_view utf8);

// `Address:  a@b`, the values below each other.
std::string to_fields(const std::vector<std::pair<std::string, std::string>>& fields);

// Columns with headings, two spaces apart.
std::string to_table(const std::vector<std::string>& headings,
                     const std::vector<std::vector<std::string>>& rows);

} // namespace tempinbox::cli
