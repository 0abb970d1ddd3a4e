// What a server's spans say, and whose traceparent it takes as parent.
#include "common/http/server_trace.hpp"

#include "common/http/client.hpp"
#include "common/http/router.hpp"
#include "common/trace/current.hpp"
#include "unit/common/trace/traced_host.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using http::trace_mode;
using testing::attribute;

namespace {

constexpr const char* given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr const char* given_trace = "0af7651916cd43dd8448eb211c80319c";

// Waits once, as handlers do, then responds with the context that it works in.
awaitable<http::response> show_context(runtime::host& host)
{
    boost::asio::steady_timer timer(host.loop(), std::chrono::milliseconds(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
    const auto& here = trace::current();
    co_return http::response(200, "text/plain", here ? here->span.text() : "none");
}

awaitable<http::response> fail()
{
    throw std::runtime_error("a bug");
    co_return http::response();
}

class traced_server
{
public:
    traced_server(testing::traced_host& host, trace_mode mode, std::vector<network> parents = {})
        : host_(host),
          server_(host, settings(mode, std::move(parents)),
                  [this](http::request& received) { return paths_.dispatch(received); }),
          client_(host, {})
    {
        paths_.add("GET", "/v1/items/{itemId}",
                   [this](http::request&) { return show_context(host_); });
        paths_.add("GET", "/fails", [](http::request&) { return fail(); });
        server_.start();
    }
    ~traced_server() { server_.stop(); }

    // The response's body.
    std::string get(const std::string& path, http::header_list headers = {})
    {
        http::client_request outgoing;
        outgoing.url = "http://" + server_.local_address().text() + path;
        outgoing.headers = std::move(headers);
        return host_.await(client_.send(std::move(outgoing))).body;
    }

    // Spans end after the response was written.
    std::vector<trace::span_record> take_spans(std::size_t count)
    {
        host_.eventually([&] { return host_.tracer().queued() >= count; });
        return host_.take_spans();
    }

private:
    static http::server_settings settings(trace_mode mode, std::vector<network> parents)
    {
        http::server_settings chosen;
        chosen.tracing = mode;
        chosen.trace_parents = std::move(parents);
        return chosen;
    }

    testing::traced_host& host_;
    http::router paths_;
    http::server server_;
    http::client client_;
};

std::vector<network> loopback()
{
    return {*network::parse("127.0.0.0/8")};
}

} // namespace

TEST_CASE("a request's span is named after its route", "[http][trace]")
{
    testing::traced_host host;
    traced_server server(host, trace_mode::edge);

    const auto body = server.get("/v1/items/7?token=secret");

    const auto spans = server.take_spans(1);
    REQUIRE(spans.size() == 1);
    CHECK(spans[0].name == "GET /v1/items/{itemId}");
    CHECK(spans[0].kind == trace::span_kind::server);
    CHECK(attribute(spans[0], "http.request.method") == "GET");
    CHECK(attribute(spans[0], "http.route") == "/v1/items/{itemId}");
    CHECK(attribute(spans[0], "url.path") == "/v1/items/7");
    CHECK(attribute(spans[0], "http.response.status_code") == "200");
    CHECK(attribute(spans[0], "error.type") == "absent");
    // The handler works in the span's context, also after it waited.
    CHECK(body == spans[0].self.span.text());
}

TEST_CASE("a path that no route knows stays out of spans", "[http][trace]")
{
    testing::traced_host host;
    traced_server server(host, trace_mode::edge);

    server.get("/secret-guess");

    const auto spans = server.take_spans(1);
    REQUIRE(spans.size() == 1);
    CHECK(spans[0].name == "GET");
    CHECK(attribute(spans[0], "url.path") == "absent");
    CHECK(attribute(spans[0], "http.response.status_code") == "404");
}

TEST_CASE("error.type is for 5xx only", "[http][trace]")
{
    testing::traced_host host;
    traced_server server(host, trace_mode::edge);

    server.get("/fails");

    const auto spans = server.take_spans(1);
    REQUIRE(spans.size() == 1);
    CHECK(attribute(spans[0], "error.type") == "500");
    CHECK(spans[0].status == trace::span_status::error);
}

TEST_CASE("a trusted peer's traceparent is the parent", "[http][trace]")
{
    testing::traced_host host(0); // its flag decides, not the sampler
    traced_server server(host, trace_mode::edge, loopback());

    server.get("/v1/items/7", {{"traceparent", given}, {"tracestate", "vendor=1"}});

    const auto spans = server.take_spans(1);
    REQUIRE(spans.size() == 1);
    CHECK(spans[0].self.span.trace_id() == given_trace);
    CHECK(spans[0].parent_span_id == "b7ad6b7169203331");
    CHECK(spans[0].self.tracestate == "vendor=1");
    CHECK(spans[0].links.empty());
}

TEST_CASE("a stranger's traceparent is a link, and its flag decides nothing", "[http][trace]")
{
    testing::traced_host host, silent(0);
    {
        traced_server server(host, trace_mode::edge);
        server.get("/v1/items/7", {{"traceparent", given}});

        const auto spans = server.take_spans(1);
        REQUIRE(spans.size() == 1);
        CHECK(spans[0].self.span.trace_id() != given_trace);
        CHECK(spans[0].parent_span_id.empty());
        REQUIRE(spans[0].links.size() == 1);
        CHECK(spans[0].links[0].text() == given);
    }
    traced_server server(silent, trace_mode::edge);
    CHECK(server.get("/v1/items/7", {{"traceparent", given}}) == "none");
    CHECK(silent.tracer().queued() == 0);
}

TEST_CASE("a request costs no context when its own trace is not recorded, a trusted one has it",
          "[http][trace]")
{
    const std::string unsampled = std::string(given, 53) + "00";
    testing::traced_host host(0);
    traced_server server(host, trace_mode::edge, loopback());

    CHECK(server.get("/v1/items/7") == "none");
    const auto body = server.get("/v1/items/7", {{"traceparent", unsampled}});

    CHECK(body.find(given_trace) != std::string::npos);
    CHECK(body.ends_with("-00"));
    CHECK(host.tracer().queued() == 0);
}

TEST_CASE("between services only what brings a traceparent has a span", "[http][trace]")
{
    testing::traced_host host;
    traced_server server(host, trace_mode::internal);

    CHECK(server.get("/v1/items/7") == "none");
    const auto body = server.get("/v1/items/7", {{"traceparent", given}});

    CHECK(body.find(given_trace) != std::string::npos);
    const auto spans = server.take_spans(1);
    REQUIRE(spans.size() == 1);
    CHECK(spans[0].parent_span_id == "b7ad6b7169203331");
}

TEST_CASE("a server without tracing, and a host without, make no contexts", "[http][trace]")
{
    testing::traced_host host, off(1, "");
    {
        traced_server server(host, trace_mode::off);
        CHECK(server.get("/v1/items/7", {{"traceparent", given}}) == "none");
    }
    traced_server server(off, trace_mode::edge, loopback());
    CHECK(server.get("/v1/items/7", {{"traceparent", given}}) == "none");
    CHECK(host.tracer().queued() + off.tracer().queued() == 0);
}
