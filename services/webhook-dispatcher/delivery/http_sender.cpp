#include "webhook-dispatcher/delivery/http_sender.hpp"

#include "webhook-dispatcher/endpoints/signature.hpp"

#include "common/core/text.hpp"
#include "common/core/version.hpp"
#include "common/http/url.hpp"
#include "common/trace/current.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

using kind = exchange_result::kind;

constexpr std::size_t max_stored_response_bytes = 1'024;
constexpr std::size_t max_idle_connections = 2'000;

http::client_settings client_settings(address_policy policy, http::resolver resolve,
                                      std::string ca_file)
{
    http::client_settings settings;
    settings.header_limit = 16 * 1024;
    settings.body_limit = 64 * 1024;
    // Each endpoint has connections and TLS sessions of its own, so that no account sees anything
    // of another: one for each slot of its window, and as many again for manual requests.
    settings.connections_per_host =
        2 * (endpoint_window::slots(queue_kind::first) + endpoint_window::slots(queue_kind::retry));
    settings.idle_connections = max_idle_connections;
    settings.ca_file = std::move(ca_file);
    settings.resolve = std::move(resolve);
    settings.allow_address = [policy = std::move(policy)](const boost::asio::ip::address& address) {
        return policy.allows(address);
    };
    return settings;
}

kind kind_of_resolve_failure(const boost::system::error_code& cause)
{
    namespace error = boost::asio::error;
    // Without a cause the look-up succeeded but found no address.
    if (!cause || cause == error::host_not_found || cause == error::no_data)
        return kind::no_such_host;
    return kind::resolver_failed;
}

// Failures of this machine, not of the receiver.
bool is_local(const boost::system::error_code& cause)
{
    namespace error = boost::asio::error;
    namespace errc = boost::system::errc;
    return cause == error::network_unreachable || cause == error::network_down ||
           cause == error::no_descriptors || cause == error::no_buffer_space ||
           cause == error::no_memory || cause == errc::too_many_files_open_in_system ||
           cause == errc::address_not_available || cause == errc::address_family_not_supported;
}

// The span of an attempt, in the event's trace; a test of a webhook belongs to its caller's.
trace::span begin_attempt(trace::tracer& tracer, const delivery_job& job,
                          const trace::context* caller)
{
    if (!tracer.is_on())
        return {};
    const auto cause = trace::traceparent::parse(job.event->traceparent);
    if (cause)
        return tracer.begin("POST", trace::span_kind::client, *cause);
    return caller ? tracer.begin("POST", trace::span_kind::client, *caller) : trace::span();
}

// Semantic conventions, "HTTP client". The URL stays out: its query may hold the receiver's
// secrets.
void describe(trace::span& span, const delivery_job& job, const sent_request& sent)
{
    if (!span.is_recording())
        return;
    span.set("http.request.method", "POST");
    if (const auto target = http::target_url::parse(job.to->url)) {
        span.set("server.address", target->host);
        span.set("server.port", target->port);
    }
    if (job.attempts_made > 0)
        span.set("http.request.resend_count", job.attempts_made);
    span.set("tempinbox.webhook.id", job.to->id.text());
    span.set("tempinbox.event.id", job.event->id.text());
    const auto status = sent.result.status;
    if (status != 0)
        span.set("http.response.status_code", status);
    if (sent.result.what != kind::answered)
        span.fail("no_response", sent.result.detail);
    else if (status >= 400)
        span.fail(std::to_string(status));
}

void set_traceparent(http::header_list& headers, const trace::span& span)
{
    if (!span.context().is_valid())
        return;
    auto text = span.context().span.text();
    const auto given = std::find_if(headers.begin(), headers.end(),
                                    [](const auto& one) { return one.first == "traceparent"; });
    if (given == headers.end())
        headers.emplace_back("traceparent", std::move(text));
    else
        given->second = std::move(text);
}

} // namespace

exchange_result read_exchange(const http::client_response& response)
{
    exchange_result result;
    result.status = response.status;
    result.detail = response.error_text;
    if (const auto header = response.header("Retry-After"))
        result.retry_after = std::string(*header);

    const bool has_status = response.status != 0;
    switch (response.error) {
    case http::exchange_error::none:
        result.what = kind::answered;
        break;
    case http::exchange_error::resolve:
        result.what = kind_of_resolve_failure(response.cause);
        break;
    case http::exchange_error::refused_address:
        result.what = kind::refused_address;
        break;
    case http::exchange_error::connect:
        result.what = is_local(response.cause) ? kind::network_down : kind::connect_failed;
        break;
    case http::exchange_error::tls:
        result.what = kind::tls_failed;
        break;
    case http::exchange_error::timeout:
        result.what = kind::timed_out;
        break;
    case http::exchange_error::closed:
        result.what = has_status ? kind::cut_short : kind::closed;
        break;
    case http::exchange_error::malformed:
    case http::exchange_error::too_large:
        result.what = has_status ? kind::cut_short : kind::malformed;
        break;
    }
    return result;
}

http::header_list make_headers(const delivery_job& job, time_point now)
{
    const auto id = job.event->id.text();
    const auto timestamp = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    http::header_list headers;
    headers.emplace_back("Content-Type", "application/json");
    headers.emplace_back("User-Agent", "TempInbox-Webhooks/" + std::string(version()));
    headers.emplace_back("Accept-Encoding", "identity");
    headers.emplace_back("webhook-id", id);
    headers.emplace_back("webhook-timestamp", std::to_string(timestamp));
    headers.emplace_back("webhook-signature", sign(job.to->keys_at(now), id, now, job.event->body));
    headers.emplace_back("webhook-attempt", std::to_string(job.attempts_made + 1));
    if (!job.event->traceparent.empty())
        headers.emplace_back("traceparent", job.event->traceparent);
    return headers;
}

http_sender::http_sender(runtime::host& host, address_policy policy, http::resolver resolve,
                         std::string ca_file)
    : host_(host),
      client_(host, client_settings(std::move(policy), std::move(resolve), ca_file))
{
    if (!ca_file.empty())
        ca_file_ = host.files().watch("webhook-ca-file", {std::move(ca_file)},
                                      [this] { client_.reload_trust(); });
}

awaitable<sent_request> http_sender::send(delivery_job job)
{
    sent_request sent;
    sent.at = host_.clock().now();
    if (!job.to->key) {
        sent.result.what = kind::network_down;
        sent.result.detail = "no master key opens the webhook's secret";
        co_return sent;
    }
    http::client_request outgoing;
    outgoing.method = "POST";
    outgoing.url = job.to->url;
    outgoing.headers = make_headers(job, sent.at);
    const auto executor = co_await boost::asio::this_coro::executor;
    auto span = begin_attempt(host_.tracer(), job, trace::context_of(executor));
    set_traceparent(outgoing.headers, span);
    outgoing.body = job.event->body;
    outgoing.pool = job.to->id.text();
    outgoing.deadline = exchange_deadline;
    const auto response = co_await client_.send(std::move(outgoing));

    sent.took = response.took;
    sent.result = read_exchange(response);
    sent.response_body = take_bytes(
        to_clean_utf8(std::string_view(response.body).substr(0, max_stored_response_bytes)),
        max_stored_response_bytes);
    describe(span, job, sent);
    co_return sent;
}

} // namespace tempinbox::webhooks
