// One call in a trace: the client's span, the header, the server's span.
#include "common/trace/current.hpp"
#include "unit/common/rpc/calls.hpp"
#include "unit/common/trace/traced_host.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::attribute;
using testing::TakeQuotaRequest;
using testing::TakeQuotaResponse;

namespace {

struct traced_pair
{
    testing::traced_host host;
    testing::token_file file;
    std::string seen; // the context that the handler works in
    rpc::server server{host, http::server_settings{}, file.tokens};
    std::optional<rpc::client> client;

    explicit traced_pair(double ratio = 1) : host(ratio)
    {
        server.add(testing::take_quota, [this](TakeQuotaRequest request) {
            seen = trace::current() ? trace::current()->span.text() : "none";
            return testing::grant(std::move(request));
        });
        server.start();
        client.emplace(host, std::vector<host_port>{server.local_address()}, file.tokens);
    }
    ~traced_pair() { server.stop(); }

    awaitable<bool> call(std::int64_t units)
    {
        TakeQuotaRequest request;
        request.add_items()->set_units(units);
        const auto outcome = co_await client->call(testing::take_quota, std::move(request));
        co_return outcome.has_value();
    }

    // As a handler does it, in the context of its request.
    bool call_within(const trace::context& caller, std::int64_t units = 1)
    {
        return host.await(trace::run_in(host.executor(), caller, call(units)));
    }
};

} // namespace

TEST_CASE("a call in a trace has a client's and a server's span", "[rpc][trace]")
{
    traced_pair pair;
    auto request = pair.host.tracer().begin("request", trace::span_kind::server);

    CHECK(pair.call_within(request.context()));

    REQUIRE(pair.host.eventually([&] { return pair.host.tracer().queued() >= 2; }));
    auto spans = pair.host.take_spans();
    if (spans[0].kind == trace::span_kind::client)
        std::swap(spans[0], spans[1]);
    const auto &served = spans[0], &called = spans[1];
    CHECK(called.name == testing::take_quota.path);
    CHECK(called.kind == trace::span_kind::client);
    CHECK(called.parent_span_id == request.context().span.span_id());
    CHECK(attribute(called, "rpc.system") == "connect_rpc");
    CHECK(attribute(called, "rpc.method") == "TakeQuota");
    CHECK(attribute(called, "server.address") == "127.0.0.1");
    CHECK(served.name == testing::take_quota.path);
    CHECK(served.kind == trace::span_kind::server);
    CHECK(served.parent_span_id == called.self.span.span_id());
    CHECK(pair.seen == served.self.span.text());
}

TEST_CASE("a trace that is not sampled goes through calls with flag 00", "[rpc][trace]")
{
    traced_pair pair(0);
    auto request = pair.host.tracer().begin("request", trace::span_kind::server);

    CHECK(pair.call_within(request.context()));

    CHECK(pair.seen.ends_with("-00"));
    CHECK(pair.seen.find(request.context().span.trace_id()) != std::string::npos);
    CHECK(pair.host.tracer().queued() == 0);
}

TEST_CASE("a call outside a trace begins none", "[rpc][trace]")
{
    traced_pair pair;

    CHECK(pair.host.await(pair.call(1)));

    CHECK(pair.seen == "none");
    CHECK(pair.host.tracer().queued() == 0);
}

TEST_CASE("a failure of the service is the span's error, a refusal is not", "[rpc][trace]")
{
    traced_pair pair;
    auto request = pair.host.tracer().begin("request", trace::span_kind::server);

    const auto [units, code, error] = GENERATE(table<std::int64_t, std::string, std::string>(
        {{-1, "already_exists", "absent"}, {-2, "unavailable", "unavailable"}}));
    CHECK_FALSE(pair.call_within(request.context(), units));

    REQUIRE(pair.host.eventually([&] { return pair.host.tracer().queued() >= 2; }));
    for (const auto& span : pair.host.take_spans()) {
        if (span.kind != trace::span_kind::client)
            continue;
        CHECK(attribute(span, "rpc.connect_rpc.error_code") == code);
        CHECK(attribute(span, "error.type") == error);
    }
}
