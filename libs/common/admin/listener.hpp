#pragma once

#include "common/http/server.hpp"
#include "common/rpc/tokens.hpp"
#include "common/runtime/host.hpp"

#include <memory>
#include <optional>
#include <string>

namespace tempinbox::admin {

// The operator's port: /livez (the loop responds; touches no dependency), /readyz (health),
// /metrics, and POST /log-level?level=debug, which requires a token of admin-token-file or, without
// such a file, a caller on loopback. Stays open while the service drains; declare it as the
// service's first member.
class listener
{
public:
    explicit listener(runtime::host& host) : listener(host, host.settings().admin_token_file) {}
    listener(runtime::host& host, const std::string& token_file);
    void start();
    void stop();
    host_port local_address() const { return server_.local_address(); }

private:
    std::unique_ptr<rpc::tokens> tokens_; // null without a file; the server refers to them
    http::server server_;
};

// Why the caller may not change anything: 401 or 403; empty if it may. Without tokens, only callers
// on loopback may.
std::optional<http::response> refuse_change(const http::request& received,
                                            const rpc::tokens* accepted);

} // namespace tempinbox::admin
