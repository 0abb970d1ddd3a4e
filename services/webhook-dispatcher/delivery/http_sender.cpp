#include "webhook-dispatcher/delivery/http_sender.hpp"

#include "webhook-dispatcher/endpoints/signature.hpp"

#include "common/core/text.hpp"

#include <boost/asio/error.hpp>

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
    headers.emplace_back("User-Agent", "TempInbox-Webhooks/" TEMPINBOX_VERSION);
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
      client_(host, client_settings(std::move(policy), std::move(resolve), std::move(ca_file)))
{}

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
    outgoing.body = job.event->body;
    outgoing.pool = job.to->id.text();
    outgoing.deadline = exchange_deadline;
    const auto response = co_await client_.send(std::move(outgoing));

    sent.took = response.took;
    sent.result = read_exchange(response);
    sent.response_body = take_bytes(
        to_clean_utf8(std::string_view(response.body).substr(0, max_stored_response_bytes)),
        max_stored_response_bytes);
    co_return sent;
}

} // namespace tempinbox::webhooks
