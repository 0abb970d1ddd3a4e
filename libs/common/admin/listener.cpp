#include "common/admin/listener.hpp"

#include "common/async/reset_event.hpp"
#include "common/core/text.hpp"
#include "common/http/router.hpp"
#include "common/json/writer.hpp"
#include "common/log/log.hpp"
#include "common/rpc/tokens.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

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

// Made on a thread of its own: the text of a warmed gateway has thousands of lines, which would
// hold the loop for milliseconds.
awaitable<http::response> metrics(runtime::host& host,
                                  std::shared_ptr<boost::asio::thread_pool> renderer)
{
    const auto text = std::make_shared<std::string>();
    const auto is_made = std::make_shared<async::reset_event>(host.executor());
    boost::asio::post(*renderer, [&host, text, is_made] {
        *text = host.metrics().text();
        boost::asio::post(host.executor(), [is_made] { is_made->set(); });
    });
    co_await is_made->wait();
    co_return http::response(200, metrics_text, std::move(*text));
}

std::unique_ptr<rpc::tokens> watch_tokens(runtime::file_watch& files, const std::string& file)
{
    return file.empty() ? nullptr : std::make_unique<rpc::tokens>(files, "admin-token-file", file);
}

bool is_from_loopback(const http::request& received)
{
    static const std::vector<network> loopback{*network::parse("127.0.0.0/8"),
                                               *network::parse("::1/128")};
    return contains(loopback, received.peer);
}

awaitable<http::response> set_log_level(http::request& received, const rpc::tokens* accepted)
{
    if (auto refusal = refuse_change(received, accepted))
        co_return std::move(*refusal);
    const auto requested = received.query_param("level").value_or(std::string_view());
    const auto level = log::parse_level(requested);
    if (!level)
        co_return http::error_response(
            400, "level must be one of debug, info, warning, error, not " + quote(requested));
    log::set_level(*level);
    log::info("log level set", {{"level", requested}});
    json::writer body;
    body.begin_object().member("level", requested).end_object();
    co_return http::ok_json(body.take());
}

http::server_settings settings_of(const runtime::host& host)
{
    http::server_settings settings;
    settings.listen = host.settings().admin_listen;
    settings.connection_limit = 256;
    settings.name = "admin";
    settings.logs_access = false;
    return settings;
}

// Routes of the operator's port. Those that only read need no authentication, so bind the listener
// to an address that only operators can reach.
http::handler routes(runtime::host& host, const rpc::tokens* accepted)
{
    const auto paths = std::make_shared<http::router>();
    paths->add("GET", "/livez", livez);
    paths->add("GET", "/readyz", [&host](http::request&) { return readyz(host); });
    paths->add("GET", "/metrics",
               [&host, renderer = std::make_shared<boost::asio::thread_pool>(1)](http::request&) {
                   return metrics(host, renderer);
               });
    paths->add("POST", "/log-level",
               [accepted](http::request& received) { return set_log_level(received, accepted); });
    return [paths](http::request& received) { return paths->dispatch(received); };
}

} // namespace

// `kubectl port-forward` connects from loopback.
std::optional<http::response> refuse_change(const http::request& received,
                                            const rpc::tokens* accepted)
{
    constexpr std::string_view scheme = "Bearer ";
    if (accepted == nullptr) {
        if (is_from_loopback(received))
            return std::nullopt;
        return http::error_response(
            403, "without admin-token-file only callers on loopback may change this");
    }
    const auto credentials = received.header("Authorization").value_or(std::string_view());
    if (credentials.starts_with(scheme) && accepted->accepts(credentials.substr(scheme.size())))
        return std::nullopt;
    auto refusal = http::error_response(
        401, "the call needs Authorization: Bearer with the token of admin-token-file");
    refusal.set("WWW-Authenticate", "Bearer");
    return refusal;
}

listener::listener(runtime::host& host, const std::string& token_file)
    : tokens_(watch_tokens(host.files(), token_file)),
      server_(host, settings_of(host), routes(host, tokens_.get()))
{}

void listener::start()
{
    server_.start();
}

void listener::stop()
{
    server_.stop();
}

} // namespace tempinbox::admin
