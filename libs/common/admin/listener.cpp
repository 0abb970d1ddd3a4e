#include "common/admin/listener.hpp"

#include "common/log/log.hpp"

namespace tempinbox::admin {
namespace {

http::server_settings listener_settings(const runtime::host& host)
{
    http::server_settings chosen;
    chosen.listen = host.settings().admin_listen;
    chosen.connection_limit = 64;
    chosen.name = "admin";
    return chosen;
}

http::response set_log_level(const http::request& received)
{
    const auto level = received.query_param("level").value_or("");
    if (level == "debug")
        log::set_level(log::level::debug);
    else if (level == "info")
        log::set_level(log::level::info);
    else if (level == "warning")
        log::set_level(log::level::warning);
    else if (level == "error")
        log::set_level(log::level::error);
    else
        return http::problem(400, "level must be one of debug, info, warning, error");
    return http::ok_json("{\"level\":\"" + std::string(level) + "\"}");
}

http::response answer(runtime::host& host, const http::request& received)
{
    const bool reads = received.method == "GET" || received.method == "HEAD";
    if (received.path == "/livez" && reads)
        return http::ok_json("{\"alive\":true}");
    if (received.path == "/readyz" && reads)
        return http::response(host.health().is_ready() ? 200 : 503, "application/json", host.health().json());
    if (received.path == "/metrics" && reads)
        return http::response(200, "text/plain; version=0.0.4; charset=utf-8", host.metrics().text());
    if (received.path == "/log-level" && received.method == "POST")
        return set_log_level(received);
    return http::problem(404, "The admin port serves GET /livez, /readyz, /metrics and POST /log-level?level=");
}

boost::asio::awaitable<http::response> handle(runtime::host* host, const http::request* received)
{
    co_return answer(*host, *received);
}

} // namespace

listener::listener(runtime::host& host)
    : server_(host, listener_settings(host), [&host](http::request& received) { return handle(&host, &received); })
{
}

void listener::start()
{
    server_.start();
}

void listener::stop()
{
    server_.stop();
}

} // namespace tempinbox::admin
