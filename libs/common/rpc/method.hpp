#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace tempinbox::rpc {

// Where a method is, and how it is called.
struct method_terms
{
    std::string_view path; // "tempinbox.inbox.v1.InboxService/CreateInbox", a literal
    // How long a caller waits unless it says otherwise.
    std::chrono::milliseconds timeout = std::chrono::seconds(5);
    // How many calls go in one request at most. Where responses are large, fewer: the next request
    // is answered while the responses of the last are read.
    std::size_t max_batch = 64;
    // Whether a call may be carried out twice, unnoticed: if not, a request whose connection died
    // before its answer fails, however long that connection had been idle.
    bool may_repeat = true;
};

// Of a method that answers otherwise when it is called again, as deletions do: not found.
constexpr method_terms only_once(std::string_view path)
{
    method_terms terms{path};
    terms.may_repeat = false;
    return terms;
}

// The header of what a draining replica sends on a connection before it closes it. As a response to
// a call it says that the replica did not begin the call, so another one may carry it out.
inline constexpr std::string_view goaway_header = "Tempinbox-Goaway";

// A unary method, as client and server both name it, and what goes in and out. The constants are in
// *_methods.hpp; the names of the calls stand nowhere else. Decision 0030 says why calls are
// Protobuf over HTTP/1.1 and not gRPC.
template <class Request, class Response>
struct method : method_terms
{};

} // namespace tempinbox::rpc
