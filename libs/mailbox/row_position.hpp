#pragma once

#include <string>
#include <utility>

namespace tempinbox::mailbox {

// Both ids of a primary key, `account/id`, in the position of work that goes on row by row; below
// every row if the position is empty.
inline std::pair<std::string, std::string> split_position(const std::string& position)
{
    constexpr const char* first_id = "00000000-0000-0000-0000-000000000000";
    const auto slash = position.find('/');
    if (slash == std::string::npos)
        return {first_id, first_id};
    return {position.substr(0, slash), position.substr(slash + 1)};
}

} // namespace tempinbox::mailbox
