#include "common/http/server_trace.hpp"

#include "common/log/log.hpp"
#include "common/trace/current.hpp"

namespace tempinbox::http {
namespace {

constexpr std::size_t max_path_bytes = 256;

std::optional<trace::context> context_in(const request& received)
{
    const auto parent = received.header("traceparent");
    if (!parent)
        return std::nullopt;
    return trace::read_context(parent, received.header("tracestate"));
}

// A fixed set of methods keeps names few.
std::string_view known_method(std::string_view method)
{
    for (const auto known : {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
        if (method == known)
            return method;
    return "HTTP";
}

// Semantic conventions, "HTTP server". The path of a matched route holds ids only: what strangers
// sent elsewhere, and every query, stay out of spans.
void describe_http(trace::span& span, const request& received)
{
    std::string name(known_method(received.method));
    span.set("http.request.method", name == "HTTP" ? std::string_view("_OTHER") : name);
    span.set("url.scheme", received.is_tls ? "https" : "http");
    if (!received.route.empty()) {
        name.append(" ").append(received.route);
        span.set("http.route", received.route);
        span.set("url.path", received.raw_path().substr(0, max_path_bytes));
    }
    span.rename(name);
}

// Semantic conventions, "RPC": `package.Service/Method`.
void describe_rpc(trace::span& span, const request& received)
{
    span.set("rpc.system", "connect_rpc");
    const auto method = received.route.substr(received.route.empty() ? 0 : 1);
    const auto slash = method.find('/');
    if (slash == std::string_view::npos)
        return;
    span.rename(method);
    span.set("rpc.service", method.substr(0, slash));
    span.set("rpc.method", method.substr(slash + 1));
}

} // namespace

trace::span begin_request_span(trace::tracer& tracer, const server_settings& settings,
                               const request& received)
{
    if (!tracer.is_on() || settings.tracing == trace_mode::off)
        return {};
    const auto given = context_in(received);
    if (settings.tracing == trace_mode::internal)
        return given ? tracer.begin("rpc", trace::span_kind::server, *given) : trace::span();
    if (given && contains(settings.trace_parents, received.peer))
        return tracer.begin("HTTP", trace::span_kind::server, *given);
    auto fresh = given ? tracer.begin_linked("HTTP", trace::span_kind::server, given->span)
                       : tracer.begin("HTTP", trace::span_kind::server);
    return fresh.is_recording() ? std::move(fresh) : trace::span();
}

void end_request_span(trace::span& span, const server_settings& settings, const request& received,
                      unsigned status)
{
    if (!span.is_recording())
        return;
    if (settings.tracing == trace_mode::internal)
        describe_rpc(span, received);
    else
        describe_http(span, received);
    span.set("http.response.status_code", status);
    if (status >= 500)
        span.fail(std::to_string(status));
    span.end();
}

void log_access(const trace::span& span, const server_settings& settings, const request& received,
                unsigned status, std::chrono::duration<double> took)
{
    const trace::scope here(span.context());
    log::write(log::line_class::access, "request served",
               {{"server", settings.name},
                {"request_id", received.id},
                {"remote_ip", received.peer.to_string()},
                {"http_request_method", received.method},
                {"http_route", received.route},
                {"path", received.raw_path()},
                {"status", status},
                {"duration_ms", took.count() * 1e3}});
}

} // namespace tempinbox::http
