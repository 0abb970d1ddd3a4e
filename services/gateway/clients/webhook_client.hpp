#pragma once

#include "common/rpc/webhook_methods.hpp"
#include "gateway/clients/service_client.hpp"

namespace tempinbox::gateway {

// The webhook dispatcher as the API sees it: webhook_methods.
class webhook_client : public service_client
{
public:
    webhook_client(runtime::host& host, std::vector<host_port> replicas, rpc::tokens& tokens,
                   rpc::client_settings chosen = {})
        : service_client(host, "webhook-dispatcher", std::move(replicas), tokens, std::move(chosen))
    {}
};

} // namespace tempinbox::gateway
