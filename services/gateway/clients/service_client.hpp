#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/client.hpp"

#include <string>

namespace tempinbox::gateway {

// Calls to one of the other services on behalf of a caller of the API. A refusal passes through; what concerns only the suite
// (replicas away, a wrong token, a bug) is logged and becomes `unavailable` or `internal` with a sentence fit for strangers.
class service_client
{
public:
    service_client(runtime::host& host, std::string service, std::vector<host_port> replicas, rpc::tokens& tokens);

    template <class Response, class Request>
    awaitable<result<Response>> call(const char* method, Request request)
    {
        result<Response> outcome = co_await rpc_.call<Response>(method, std::move(request));
        if (!outcome)
            co_return for_caller(method, outcome.error());
        co_return outcome;
    }

private:
    failure for_caller(const char* method, const failure& reason) const;

    std::string service_;
    rpc::client rpc_;
};

} // namespace tempinbox::gateway
