#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "common/rpc/tokens.hpp"
#include "common/testing/await.hpp"
#include "gateway/routes/caller.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

namespace tempinbox::testing {

// An RPC service on loopback whose methods a test chooses: the other side of a handler.
class fake_service
{
public:
    fake_service()
        : tokens_(folder_.write("tokens", "a-token-for-the-unit-tests\n")),
          server_(test_host(), http::server_settings(), tokens_)
    {}
    ~fake_service() { server_.stop(); }

    template <class Request, class Response>
    void response(const std::string& method, std::function<result<Response>(const Request&)> handle)
    {
        server_.add(rpc::method<Request, Response>{method},
                    [handle](Request request) { return respond_with(handle(request)); });
    }
    std::vector<host_port> start()
    {
        server_.start();
        return {server_.local_address()};
    }

    rpc::tokens& tokens() { return tokens_; }

private:
    template <class Response>
    static awaitable<result<Response>> respond_with(result<Response> outcome)
    {
        co_return outcome;
    }

    scratch_folder folder_;
    rpc::tokens tokens_;
    rpc::server server_;
};

inline gateway::caller premium_caller()
{
    gateway::caller who;
    who.state.account = account_id::make();
    who.state.plan = "premium";
    who.state.limits.api_access = true;
    who.state.limits.max_ttl = std::chrono::hours(720);
    who.state.version = 7;
    who.now = *parse_iso8601("2026-11-21T12:00:00Z");
    return who;
}

} // namespace tempinbox::testing
