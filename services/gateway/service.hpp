#pragma once

#include "common/admin/listener.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/router.hpp"
#include "common/http/server.hpp"
#include "common/kafka/consumer.hpp"
#include "common/otlp/exporter.hpp"
#include "gateway/core.hpp"
#include "gateway/settings.hpp"
#include "gateway/surfaces/api.hpp"
#include "gateway/surfaces/dashboard.hpp"

namespace tempinbox::gateway {

// The public API and the dashboard behind one server. Checks keys and the daily quota, or sessions;
// validates; and calls the services that own the data. Publishes the outbox of accounts.
class service final : public runtime::service
{
public:
    service(runtime::host& host, settings chosen);

    void start() override;
    awaitable<void> drain() override;

private:
    http::server_hooks make_hooks();
    std::optional<http::response> judge_header(http::request& received);
    awaitable<http::response> handle(http::request& received);
    awaitable<http::response> handle_below_base_path(http::request& received);
    awaitable<http::response> dispatch(http::request& received);
    void take_events(const std::vector<kafka::record>& batch);

    runtime::host& host_;
    settings settings_;
    admin::listener admin_;
    otlp::exporter traces_;
    core core_;
    api api_;
    dashboard dashboard_;
    kafka::broadcast_reader mail_events_; // triggers long polls, and feeds event streams
    http::router site_;                   // everything outside /v1 and /dashboard
    http::server server_;
};

} // namespace tempinbox::gateway
