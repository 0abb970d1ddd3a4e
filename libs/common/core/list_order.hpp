#pragma once

namespace tempinbox {

// Which end of a list comes first. In the API `order=desc`, the default, and `order=asc`.
enum class list_order { newest_first, oldest_first };

// The same in RPC messages, whose default is false.
constexpr list_order to_list_order(bool is_oldest_first)
{
    return is_oldest_first ? list_order::oldest_first : list_order::newest_first;
}

} // namespace tempinbox
