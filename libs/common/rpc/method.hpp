#pragma once

#include <chrono>
#include <string_view>

namespace tempinbox::rpc {

// A unary method, as client and server both name it: where it is, and what goes in and out. The
// constants are in *_methods.hpp; the names of the calls stand nowhere else.
template <class Request, class Response>
struct method
{
    std::string_view path; // "tempinbox.inbox.v1.InboxService/CreateInbox"
    // How long a caller waits unless it says otherwise.
    std::chrono::milliseconds timeout = std::chrono::seconds(5);
};

} // namespace tempinbox::rpc
