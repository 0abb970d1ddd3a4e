#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/client.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::http {

// The result of a look-up; without addresses, why.
struct resolution
{
    bool is_finished = false; // false: the deadline came first
    std::vector<boost::asio::ip::address> addresses;
    std::string error_text;
    boost::system::error_code cause;
};

// Calls `custom_resolver`, or asks the system if it is empty. Returns at the deadline even if the
// look-up goes on: the system's cannot be stopped.
awaitable<resolution> resolve(boost::asio::io_context& loop, const resolver& custom_resolver,
                              std::string name, std::chrono::steady_clock::time_point deadline);

} // namespace tempinbox::http
