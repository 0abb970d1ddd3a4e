#pragma once

#include "common/rpc/inbox_methods.hpp"
#include "gateway/clients/service_client.hpp"

namespace tempinbox::gateway {

// The inbox service as the API sees it: inbox_methods.
class inbox_client : public service_client
{
public:
    inbox_client(runtime::host& host, std::vector<host_port> replicas, rpc::tokens& tokens,
                 rpc::client_settings chosen = {})
        : service_client(host, "inbox", std::move(replicas), tokens, std::move(chosen))
    {}
};

} // namespace tempinbox::gateway
