#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/client.hpp"

#include <string>

namespace tempinbox::gateway {

// Calls another service on behalf of an API caller. A refusal passes through. An error that
// concerns only the suite (no replica, a wrong token, a bug) is logged and becomes `unavailable` or
// `internal` with a message fit for strangers.
class service_client
{
public:
    service_client(runtime::host& host, std::string service, std::vector<host_port> replicas,
                   rpc::tokens& tokens);

    template <class Response, class Request>
    awaitable<result<Response>> call(const char* method, Request request,
                                     std::chrono::milliseconds deadline = std::chrono::seconds(5))
    {
        result<Response> outcome =
            co_await rpc_.call<Response>(method, std::move(request), deadline);
        if (!outcome)
            co_return for_caller(method, outcome.error());
        co_return outcome;
    }

    // For data that the response can do without: an error is returned unchanged and not logged.
    template <class Response, class Request>
    awaitable<result<Response>> try_call(const char* method, Request request,
                                         std::chrono::milliseconds deadline)
    {
        return rpc_.call<Response>(method, std::move(request), deadline);
    }

private:
    failure for_caller(const char* method, const failure& reason) const;

    std::string service_;
    rpc::client rpc_;
};

} // namespace tempinbox::gateway
