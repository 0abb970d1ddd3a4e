#include "common/rpc/client.hpp"

#include "common/json/value.hpp"
#include "common/rpc/codes.hpp"
#include "common/trace/current.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The largest message that a setting or a plan allows (60 MiB: mail-ingest's settings,
// tempinboxctl), plus its envelope.
constexpr std::uint64_t max_response_bytes = 64 * 1024 * 1024;
// A replica that could not be reached is tried last for this long.
constexpr milliseconds failure_backoff{1'000};

http::client_settings http_settings(const client_settings& chosen)
{
    http::client_settings settings;
    settings.connect_timeout = milliseconds(1'000);
    settings.idle_timeout = milliseconds(60'000);
    settings.connections_per_host = 256;
    settings.body_limit = max_response_bytes;
    settings.connection_max_age = chosen.connection_max_age;
    settings.tls = chosen.tls;
    settings.resolve = chosen.resolve; // for a name that was not resolved yet
    return settings;
}

failure transport_failure(const http::client_response& http_response, std::string_view method)
{
    const auto code = http_response.error == http::exchange_error::timeout ? errc::deadline_exceeded
                                                                           : errc::unavailable;
    return failure(code, std::string(method) + ": " + http_response.error_text);
}

// A body that is not Connect's comes from an intermediary; only its status is usable.
failure read_error(const http::client_response& http_response, std::string_view method)
{
    const auto body = json::value::parse(http_response.body);
    const auto code = body ? body->find("code") : std::nullopt;
    const auto message = body ? body->find("message") : std::nullopt;
    if (code && code->is_string())
        return failure(code_from_connect(code->text()),
                       message && message->is_string() ? message->text() : std::string());
    const bool is_passing = http_response.status == 429 || http_response.status == 502 ||
                            http_response.status == 503 || http_response.status == 504;
    return failure(is_passing ? errc::unavailable : errc::internal,
                   std::string(method) + ": HTTP status " + std::to_string(http_response.status));
}

result<void> read_response(const http::client_response& http_response, std::string_view method,
                           google::protobuf::Message& response)
{
    if (http_response.error != http::exchange_error::none)
        return transport_failure(http_response, method);
    if (http_response.status == 0)
        return failure(errc::deadline_exceeded, std::string(method) + ": no time was left");
    if (http_response.status != 200)
        return read_error(http_response, method);
    if (!response.ParseFromString(http_response.body))
        return failure(errc::internal,
                       std::string(method) + ": the answer is no " + response.GetTypeName());
    return {};
}

// Semantic conventions, "RPC". A refusal that the caller brought about is no error of the call.
void describe(trace::span& span, std::string_view method, const std::vector<host_port>& tried,
              const std::optional<host_port>& last, const result<void>& outcome)
{
    if (!span.is_recording())
        return;
    const auto slash = method.find('/');
    span.set("rpc.system", "connect_rpc");
    span.set("rpc.service", method.substr(0, slash));
    span.set("rpc.method", method.substr(slash == std::string_view::npos ? 0 : slash + 1));
    if (const auto* replica = last ? &*last : tried.empty() ? nullptr : &tried.back()) {
        span.set("server.address", replica->host);
        span.set("server.port", replica->port);
    }
    if (outcome)
        return;
    const auto code = connect_code(outcome.error().code);
    span.set("rpc.connect_rpc.error_code", code);
    if (connect_http_status(outcome.error().code) >= 500)
        span.fail(code, outcome.error().message);
}

} // namespace

// The known replicas, and the look-up of their names.
struct client::replica_list
{
    replica_list(runtime::host& host, std::vector<host_port> configured,
                 const client_settings& chosen)
        : interval(chosen.resolve_interval),
          known(configured.begin(), configured.end()),
          resolver(
              host, std::move(configured),
              [this](const std::vector<replica>& found) { known = found; }, chosen.resolve),
          has_names(resolver.has_names())
    {}

    static void refresh_if_due(const std::shared_ptr<replica_list>& self, runtime::host& host)
    {
        if (!self->has_names || self->is_refreshing || clock::now() < self->next_refresh)
            return;
        self->is_refreshing = true;
        boost::asio::co_spawn(host.executor(), refresh(self), boost::asio::detached);
    }

    static awaitable<void> refresh(std::shared_ptr<replica_list> self)
    {
        co_await self->resolver.refresh();
        self->is_refreshing = false;
        self->next_refresh = clock::now() + self->interval;
        self->min_next_refresh = clock::now() + min_interval;
    }

    // As soon as the minimum interval since the last refresh has passed.
    void refresh_soon() { next_refresh = std::min(next_refresh, min_next_refresh); }

    // Waits until the look-up in progress ends; rare, so polling costs nothing.
    static awaitable<void> wait_for_refresh(std::shared_ptr<replica_list> self, runtime::host& host,
                                            clock::time_point deadline)
    {
        boost::asio::steady_timer timer(host.executor());
        while (self->is_refreshing && clock::now() < deadline) {
            timer.expires_after(milliseconds(5));
            co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        }
    }

    static constexpr milliseconds min_interval{200};

    milliseconds interval;
    std::vector<replica> known;
    replica_resolver resolver;
    bool has_names;
    bool is_refreshing = false;
    clock::time_point next_refresh{};
    clock::time_point min_next_refresh{};
};

client::client(runtime::host& host, std::vector<host_port> replicas, tokens& credentials,
               client_settings chosen)
    : host_(host),
      replicas_(std::make_shared<replica_list>(host, std::move(replicas), chosen)),
      tokens_(credentials),
      send_(std::move(chosen.send)),
      is_tls_(chosen.tls != nullptr),
      tls_name_(std::move(chosen.tls_name)),
      http_(host, http_settings(chosen))
{
    if (replicas_->known.empty())
        throw std::logic_error("an RPC client needs at least one replica");
}

client::~client() = default;

// The next replica in turn that the call has not tried; one that is backing off only if no other is
// left.
std::optional<replica> client::choose_replica(const std::vector<host_port>& tried)
{
    const auto now = clock::now();
    const auto& known = replicas_->known;
    std::optional<std::size_t> backing_off;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto candidate = (next_ + i) % known.size();
        if (std::find(tried.begin(), tried.end(), known[candidate].at) != tried.end())
            continue;
        // Nobody backs off, as a rule: then no text is made.
        const auto backoff = backoff_until_.empty()
                                 ? backoff_until_.end()
                                 : backoff_until_.find(known[candidate].at.text());
        if (backoff == backoff_until_.end() || backoff->second <= now) {
            next_ = candidate + 1;
            return known[candidate];
        }
        if (!backing_off)
            backing_off = candidate;
    }
    if (!backing_off)
        return std::nullopt;
    next_ = *backing_off + 1;
    return known[*backing_off];
}

// Addresses come and go, so expired entries are removed.
void client::back_off(const host_port& replica)
{
    const auto now = clock::now();
    std::erase_if(backoff_until_, [now](const auto& entry) { return entry.second <= now; });
    backoff_until_[replica.text()] = now + failure_backoff;
    replicas_->refresh_soon();
}

void client::observe(std::string_view method, const result<void>& outcome,
                     std::chrono::duration<double> took)
{
    auto known = std::find_if(durations_.begin(), durations_.end(),
                              [method](const auto& each) { return each.method == method; });
    if (known == durations_.end()) {
        known = durations_.emplace(durations_.end());
        known->method = method;
    }
    auto& series =
        outcome ? known->good : known->failed[static_cast<std::size_t>(outcome.error().code)];
    if (series == nullptr) {
        const auto code = outcome ? std::string_view("ok") : connect_code(outcome.error().code);
        const auto slash = method.find('/');
        series = &host_.metrics().histogram(
            "tempinbox_rpc_client_duration_seconds",
            "Time of a call to another service, all its tries together", metrics::latency_buckets(),
            {{"service", std::string(method.substr(0, slash))},
             {"method", std::string(method.substr(std::min(slash + 1, method.size())))},
             {"code", std::string(code)}});
    }
    series->Observe(took.count());
}

awaitable<http::client_response> client::send(http::client_request outgoing)
{
    return send_ ? send_(std::move(outgoing)) : http_.send(std::move(outgoing));
}

awaitable<result<void>> client::call_replicas(std::string_view method,
                                              const google::protobuf::Message& request,
                                              google::protobuf::Message& response,
                                              milliseconds deadline)
{
    const auto began = clock::now();
    const auto give_up = began + deadline;
    trace::span span;
    if (host_.tracer().is_on()) {
        // Only what a request caused is traced; background work begins no traces.
        const auto executor = co_await boost::asio::this_coro::executor;
        if (const auto* caller = trace::context_of(executor))
            span = host_.tracer().begin(method, trace::span_kind::client, *caller);
    }
    http::client_response http_response;
    std::vector<host_port> tried;
    std::optional<host_port> last;
    bool has_refreshed = false;
    for (;;) {
        const auto left = std::chrono::duration_cast<milliseconds>(give_up - clock::now());
        if (left.count() <= 0)
            break;
        replica_list::refresh_if_due(replicas_, host_);
        const auto chosen = choose_replica(tried);
        if (!chosen && has_refreshed)
            break;
        if (!chosen) {
            // All replicas refused: a refresh may find others.
            has_refreshed = true;
            co_await replica_list::wait_for_refresh(replicas_, host_, give_up);
            continue;
        }
        http::client_request outgoing;
        outgoing.method = "POST";
        outgoing.url = (is_tls_ ? "https://" : "http://") + chosen->at.text() + "/";
        outgoing.url += method;
        if (is_tls_)
            outgoing.tls_name = tls_name_.empty() ? chosen->name : tls_name_;
        outgoing.headers.reserve(span.context().is_valid() ? 6 : 4);
        outgoing.headers.emplace_back("Content-Type", "application/proto");
        outgoing.headers.emplace_back("Connect-Protocol-Version", "1");
        outgoing.headers.emplace_back("Connect-Timeout-Ms", std::to_string(left.count()));
        outgoing.headers.emplace_back("Authorization", "Bearer " + tokens_.current().reveal());
        if (span.context().is_valid()) {
            const auto& sent = span.context();
            outgoing.headers.emplace_back("traceparent", sent.span.text());
            if (!sent.tracestate.empty())
                outgoing.headers.emplace_back("tracestate", sent.tracestate);
        }
        outgoing.body = request.SerializeAsString();
        outgoing.deadline = left;
        http_response = co_await send(std::move(outgoing));
        // Once the request was written, the replica may have received it: only the caller can judge
        // whether to retry. Until then the next replica is tried.
        if (http_response.is_sent) {
            if (span.is_recording())
                last = chosen->at;
            break;
        }
        back_off(chosen->at);
        tried.push_back(chosen->at);
    }
    auto outcome = read_response(http_response, method, response);
    describe(span, method, tried, last, outcome);
    observe(method, outcome, clock::now() - began);
    co_return outcome;
}

} // namespace tempinbox::rpc
