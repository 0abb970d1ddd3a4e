#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/rpc/client.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// Calls another service on behalf of an API caller. A refusal passes through. An error that
// concerns only the suite (no replica, a wrong token, a bug) is logged and becomes `unavailable` or
// `internal` with a message fit for strangers.
class service_client
{
public:
    service_client(runtime::host& host, std::string service, std::vector<host_port> replicas,
                   rpc::tokens& tokens, rpc::client_settings chosen = {});

    template <class Request, class Response>
    awaitable<result<Response>> call(rpc::method<Request, Response> called,
                                     std::type_identity_t<Request> request)
    {
        result<Response> outcome = co_await rpc_.call(called, std::move(request));
        if (!outcome)
            co_return for_caller(called.path, outcome.error());
        co_return outcome;
    }

    // The same in one request with other calls of the method that come while one is under way, in
    // which accounts take turns.
    template <class Request, class Response>
    awaitable<result<Response>> call_batched(rpc::method<Request, Response> called,
                                             std::type_identity_t<Request> request,
                                             account_id account)
    {
        result<Response> outcome =
            co_await rpc_.call_batched(called, std::move(request), account.value());
        if (!outcome)
            co_return for_caller(called.path, outcome.error());
        co_return outcome;
    }

    // For data that the response can do without: an error is returned unchanged and not logged.
    template <class Request, class Response>
    awaitable<result<Response>> try_call(rpc::method<Request, Response> called,
                                         std::type_identity_t<Request> request)
    {
        return rpc_.call(called, std::move(request));
    }
    template <class Request, class Response>
    awaitable<result<Response>> try_call_batched(rpc::method<Request, Response> called,
                                                 std::type_identity_t<Request> request,
                                                 account_id account)
    {
        return rpc_.call_batched(called, std::move(request), account.value());
    }

private:
    failure for_caller(std::string_view method, const failure& reason) const;

    std::string service_;
    rpc::client rpc_;
};

} // namespace tempinbox::gateway
