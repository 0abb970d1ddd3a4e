// The exporter against a real HTTP server on the same loop.
#include "common/otlp/exporter.hpp"

#include "common/http/server.hpp"
#include "common/json/value.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"
#include "unit/common/trace/traced_host.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using otlp::export_decision;

namespace {

std::uint16_t free_port()
{
    boost::asio::io_context loop;
    boost::asio::ip::tcp::acceptor probe(loop, {boost::asio::ip::make_address("127.0.0.1"), 0});
    return probe.local_endpoint().port();
}

// A host that exports to a sink on its own loop.
struct exporting
{
    std::uint16_t port = free_port();
    testing::traced_host host{1, "http://127.0.0.1:" + std::to_string(port) + "/v1/traces"};

    void end_spans(int count)
    {
        for (int i = 0; i < count; ++i)
            host.tracer().begin("work", trace::span_kind::internal).end();
    }
    http::server_settings at_port() const
    {
        http::server_settings chosen;
        chosen.listen = host_port("127.0.0.1", port);
        chosen.body_limit = 4 * 1024 * 1024;
        return chosen;
    }
};

std::size_t spans_in(const std::string& body)
{
    std::size_t count = 0;
    for (auto at = body.find("\"spanId\""); at != std::string::npos;
         at = body.find("\"spanId\"", at + 1))
        ++count;
    return count;
}

awaitable<http::response> respond(http::response answer)
{
    co_return answer;
}

http::client_response response_of(unsigned status, http::header_list headers = {})
{
    http::client_response response;
    response.status = status;
    response.headers = std::move(headers);
    return response;
}

awaitable<bool> drained(otlp::exporter& exporter, std::chrono::milliseconds timeout)
{
    co_await exporter.drain(timeout);
    co_return true;
}

bool has_metric(runtime::host& host, std::string_view line)
{
    return host.metrics().text().find(line) != std::string::npos;
}

} // namespace

TEST_CASE("the table of export responses", "[otlp]")
{
    using enum export_decision::step;
    struct row
    {
        unsigned status;
        export_decision::step next;
    };
    const auto [status, next] =
        GENERATE(row{200, done}, row{202, done}, row{400, give_up}, row{401, give_up},
                 row{404, give_up}, row{413, give_up}, row{429, retry}, row{500, give_up},
                 row{501, give_up}, row{502, retry}, row{503, retry}, row{504, retry});
    CAPTURE(status);

    CHECK(otlp::judge(response_of(status)).next == next);
}

TEST_CASE("a retry waits as long as the receiver says", "[otlp]")
{
    CHECK(otlp::judge(response_of(429, {{"Retry-After", "7"}})).retry_after == 7s);
    CHECK_FALSE(otlp::judge(response_of(503, {{"Retry-After", "soon"}})).retry_after);
    CHECK_FALSE(otlp::judge(response_of(400, {{"Retry-After", "7"}})).retry_after);

    http::client_response lost;
    lost.error = http::exchange_error::connect;
    CHECK(otlp::judge(lost).next == export_decision::step::retry);
}

TEST_CASE("a full batch is sent at once, with the headers of the settings", "[otlp]")
{
    exporting on;
    std::vector<std::string> bodies, types;
    http::server receiver(on.host, on.at_port(), [&](http::request& received) {
        bodies.push_back(received.body);
        types.emplace_back(received.header("Content-Type").value_or(""));
        return respond(http::response(200, "application/json", "{}"));
    });
    receiver.start();
    otlp::exporter exporter(on.host);
    exporter.start();

    on.end_spans(600);

    REQUIRE(on.host.eventually([&] { return !bodies.empty(); }));
    CHECK(spans_in(bodies[0]) == 512);
    CHECK(types[0] == "application/json");
    const std::size_t enough = 1'000'000;
    CHECK(json::value::parse(bodies[0], {.bytes = enough}));
    // The rest goes out at the end.
    CHECK(on.host.await(drained(exporter, 5s)));
    REQUIRE(bodies.size() == 2);
    CHECK(spans_in(bodies[1]) == 88);
    CHECK(has_metric(on.host, "tempinbox_spans_exported_total 600"));
    receiver.stop();
}

TEST_CASE("a batch is sent again after 503, and dropped after 400", "[otlp]")
{
    const auto [status, requests, line] = GENERATE(
        table<unsigned, std::size_t, std::string>({{503, 2, "tempinbox_spans_exported_total 512"},
                                                   {400, 1,
                                                    "tempinbox_spans_dropped_total{reason="
                                                    "\"refused\"} 512"}}));
    CAPTURE(status);
    exporting on;
    std::size_t taken = 0;
    http::server receiver(on.host, on.at_port(), [&, code = status](http::request&) {
        http::response answer(taken++ == 0 ? code : 200, "application/json", "{}");
        answer.set("Retry-After", std::int64_t{0});
        return respond(std::move(answer));
    });
    receiver.start();
    otlp::exporter exporter(on.host);
    exporter.start();

    on.end_spans(512);

    CHECK(on.host.eventually([&, wanted = line] { return has_metric(on.host, wanted); }));
    CHECK(taken == requests);
    receiver.stop();
    CHECK(on.host.await(drained(exporter, 1s)));
}

TEST_CASE("the receiver's certificate is checked by what the CA file holds now", "[otlp][secrets]")
{
    const testing::scratch_folder folder;
    const auto shown = testing::make_self_signed("IP:127.0.0.1");
    const auto port = free_port();
    auto settings =
        testing::traced_settings("https://127.0.0.1:" + std::to_string(port) + "/v1/traces", 1);
    settings.trace.ca_file =
        folder.write("ca.pem", testing::make_self_signed("IP:127.0.0.1").certificate);
    testing::traced_host host(settings);
    http::server_settings at_port;
    at_port.listen = host_port("127.0.0.1", port);
    at_port.body_limit = 4 * 1024 * 1024;
    at_port.certificate_file = folder.write("certificate.pem", shown.certificate);
    at_port.key_file = folder.write("key.pem", shown.key);
    std::size_t taken = 0;
    http::server receiver(host, at_port, [&](http::request&) {
        ++taken;
        return respond(http::response(200, "application/json", "{}"));
    });
    receiver.start();
    otlp::exporter exporter(host);
    // Sends at once what is queued; what cannot be delivered is dropped.
    const auto send_a_span = [&] {
        host.tracer().begin("work", trace::span_kind::internal).end();
        return host.await(drained(exporter, 2s));
    };

    CHECK(send_a_span());
    CHECK(taken == 0);

    folder.write("ca.pem", shown.certificate);
    host.files().check();
    CHECK(send_a_span());
    CHECK(taken == 1);
    CHECK(
        has_metric(host, "tempinbox_files_current{setting=\"otel-exporter-otlp-certificate\"} 1"));
    receiver.stop();
}

TEST_CASE("at the end what cannot be delivered is dropped and counted", "[otlp]")
{
    exporting on; // nobody listens
    otlp::exporter exporter(on.host);
    exporter.start();
    on.end_spans(3);

    CHECK(on.host.await(drained(exporter, 500ms)));

    CHECK(on.host.tracer().queued() == 0);
    CHECK(has_metric(on.host, "tempinbox_spans_dropped_total{reason=\"unavailable\"} 3"));
}

TEST_CASE("without tracing the exporter does nothing", "[otlp]")
{
    testing::traced_host off(1, "");
    otlp::exporter exporter(off);
    exporter.start();

    CHECK(off.await(drained(exporter, 500ms)));
    CHECK_FALSE(has_metric(off, "tempinbox_spans"));
}
