#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/http/client.hpp"
#include "common/rpc/tokens.hpp"
#include "common/runtime/host.hpp"

#include <google/protobuf/message.h>

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::rpc {

// Calls one service over its replicas in turn (application/proto). A replica that refuses the connection is passed over for the
// next, until each was tried once. Failures of the transport are errc::unavailable or deadline_exceeded, so a handler can pass
// them on; never throws for them.
class client
{
public:
    client(runtime::host& host, std::vector<host_port> replicas, tokens& credentials);

    template <class Response, class Request>
    awaitable<result<Response>> call(const char* method, Request request,
                                     std::chrono::milliseconds deadline = std::chrono::seconds(5))
    {
        Response response;
        const result<void> outcome = co_await exchange(method, request, response, deadline);
        if (!outcome)
            co_return outcome.error();
        co_return response;
    }

private:
    awaitable<result<void>> exchange(const char* method, const google::protobuf::Message& request,
                                     google::protobuf::Message& response, std::chrono::milliseconds deadline);

    std::size_t choose_replica(const std::vector<std::size_t>& tried);

    std::vector<host_port> replicas_;
    tokens& tokens_;
    std::size_t next_ = 0;
    std::vector<std::chrono::steady_clock::time_point> rests_until_;
    http::client http_;
};

} // namespace tempinbox::rpc
