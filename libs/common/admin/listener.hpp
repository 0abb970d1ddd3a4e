#pragma once

#include "common/http/server.hpp"
#include "common/runtime/host.hpp"

namespace tempinbox::admin {

// The operator's port: /livez (the loop answers, no dependency touched), /readyz (health), /metrics, POST /log-level?level=debug.
// Stays open while the service drains; make it the service's first member.
class listener
{
public:
    explicit listener(runtime::host& host);
    void start();
    void stop();
    host_port local_address() const { return server_.local_address(); }

private:
    http::server server_;
};

} // namespace tempinbox::admin
