#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace tempinbox::rpc {

// Where a method is, and how it is called.
struct method_terms
{
    std::string_view path; // "tempinbox.inbox.v1.InboxService/CreateInbox"
    // How long a caller waits unless it says otherwise.
    std::chrono::milliseconds timeout = std::chrono::seconds(5);
    // How many calls go in one request at most. Where responses are large, fewer: the next request
    // is answered while the responses of the last are read.
    std::size_t max_batch = 64;
};

// A unary method, as client and server both name it, and what goes in and out. The constants are in
// *_methods.hpp; the names of the calls stand nowhere else.
template <class Request, class Response>
struct method : method_terms
{};

} // namespace tempinbox::rpc
