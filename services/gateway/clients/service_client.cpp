#include "gateway/clients/service_client.hpp"

#include "common/log/log.hpp"

namespace tempinbox::gateway {

service_client::service_client(runtime::host& host, std::string service,
                               std::vector<host_port> replicas, rpc::tokens& tokens,
                               rpc::client_settings chosen)
    : service_(std::move(service)),
      rpc_(host, std::move(replicas), tokens, std::move(chosen))
{}

failure service_client::for_caller(std::string_view method, const failure& reason) const
{
    switch (reason.code) {
    case errc::unavailable:
    case errc::deadline_exceeded:
    case errc::unauthenticated:
        log::error("a service cannot be called",
                   {{"service", service_}, {"call", method}, {"error", reason.message}});
        return failure{errc::unavailable, "The service cannot answer now; try again"};
    case errc::internal:
        log::error("a service failed",
                   {{"service", service_}, {"call", method}, {"error", reason.message}});
        return failure{errc::internal, "The service failed to answer"};
    default:
        return reason;
    }
}

} // namespace tempinbox::gateway
