#include "common/admin/listener.hpp"

#include "common/core/text.hpp"
#include "common/http/router.hpp"
#include "common/json/writer.hpp"
#include "common/log/log.hpp"

#include <memory>

namespace tempinbox::admin {
namespace {

constexpr std::string_view plain_text = "text/plain; charset=utf-8";
// Prometheus text format, version 0.0.4.
constexpr std::string_view metrics_text = "text/plain; version=0.0.4; charset=utf-8";

awaitable<http::response> livez(http::request&)
{
    co_return http::response(200, plain_text, "ok\n");
}

awaitable<http::response> readyz(runtime::host& host)
{
    const unsigned status = host.health().is_ready() ? 200 : 503;
    co_return http::response(status, "application/json", host.health().json());
}

awaitable<http::response> metrics(runtime::host& host)
{
    co_return http::response(200, metrics_text, host.metrics().text());
}

awaitable<http::response> set_log_level(http::request& received)
{
    const auto wanted = received.query_param("level").value_or(std::string_view());
    const auto level = log::parse_level(wanted);
    if (!level)
        co_return http::problem(400, "level must be one of debug, info, warning, error, not " + quote(wanted));
    log::set_level(*level);
    log::info("log level set", {{"level", wanted}});
    json::writer body;
    body.begin_object().member("level", wanted).end_object();
    co_return http::ok_json(body.take());
}

http::server_settings settings_of(const runtime::host& host)
{
    http::server_settings settings;
    settings.listen = host.settings().admin_listen;
    settings.connection_limit = 256;
    settings.name = "admin";
    return settings;
}

// Routes of the operator's port: no authentication, so the listener belongs on an address only operators reach.
http::handler routes(runtime::host& host)
{
    const auto paths = std::make_shared<http::router>();
    paths->add("GET", "/livez", livez);
    paths->add("GET", "/readyz", [&host](http::request&) { return readyz(host); });
    paths->add("GET", "/metrics", [&host](http::request&) { return metrics(host); });
    paths->add("POST", "/log-level", set_log_level);
    return [paths](http::request& received) { return paths->dispatch(received); };
}

} // namespace

listener::listener(runtime::host& host) : server_(host, settings_of(host), routes(host)) {}

void listener::start()
{
    server_.start();
}

void listener::stop()
{
    server_.stop();
}

} // namespace tempinbox::admin
