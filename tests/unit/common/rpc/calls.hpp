#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/client.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/rpc/server.hpp"
#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <string>

namespace tempinbox::testing {

using ratelimit::v1::TakeQuotaRequest;
using ratelimit::v1::TakeQuotaResponse;

inline const std::string rpc_token = "a-token-of-the-tests-0123456789";
using rate_limit_methods::take_quota;

struct token_file
{
    scratch_folder folder;
    rpc::tokens tokens{folder.write("tokens", rpc_token + "\n")};
};

// Grants what is requested; units below zero choose a way to fail.
inline awaitable<result<TakeQuotaResponse>> grant(TakeQuotaRequest request)
{
    TakeQuotaResponse response;
    for (const auto& item : request.items()) {
        if (item.units() == -1)
            co_return failure(errc::conflict, "already taken: " + item.account_id(),
                              error_reason::address_taken);
        if (item.units() == -2)
            throw dependency_error("PostgreSQL is away");
        if (item.units() == -3)
            throw std::runtime_error("secret detail");
        response.add_results()->set_granted(item.units());
    }
    co_return response;
}

// An RPC server on the test loop, drained at the end.
class running_rpc_server
{
public:
    explicit running_rpc_server(rpc::tokens& tokens, host_port listen = {"127.0.0.1", 0})
        : server(test_host(), settings(std::move(listen)), tokens)
    {
        server.add(take_quota, grant);
        server.start();
    }
    ~running_rpc_server()
    {
        await(server.drain(std::chrono::milliseconds(500)));
        server.stop();
    }

    rpc::server server;

private:
    static http::server_settings settings(host_port listen)
    {
        http::server_settings chosen;
        chosen.listen = std::move(listen);
        chosen.name = "rpc";
        return chosen;
    }
};

inline TakeQuotaRequest quota_request(std::int64_t units)
{
    TakeQuotaRequest request;
    auto* const item = request.add_items();
    item->set_account_id("a");
    item->set_units(units);
    return request;
}

} // namespace tempinbox::testing
