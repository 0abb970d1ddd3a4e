#pragma once

#include "common/rpc/rate_limit_methods.hpp"
#include "gateway/clients/service_client.hpp"

namespace tempinbox::gateway {

// Reads past usage from rate-limit: rate_limit_methods. quota_client takes units.
class rate_limit_client : public service_client
{
public:
    rate_limit_client(runtime::host& host, std::vector<host_port> replicas, rpc::tokens& tokens,
                      rpc::client_settings chosen = {})
        : service_client(host, "rate-limit", std::move(replicas), tokens, std::move(chosen))
    {}
};

} // namespace tempinbox::gateway
