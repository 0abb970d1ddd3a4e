#include "webhook-dispatcher/delivery/http_sender.hpp"

#include "webhook-dispatcher/endpoints/signature.hpp"

#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;
using kind = exchange_result::kind;
using http::exchange_error;

namespace {

http::client_response failed(exchange_error error, boost::system::error_code cause = {},
                             unsigned status = 0)
{
    http::client_response response;
    response.error = error;
    response.error_text = "why";
    response.cause = cause;
    response.status = status;
    return response;
}

kind kind_of(const http::client_response& response)
{
    return read_exchange(response).what;
}

std::string header(const http::header_list& headers, std::string_view name)
{
    return std::string(http::find_header(headers, name).value_or("absent"));
}

delivery_job make_job()
{
    auto to = std::make_shared<receiver>();
    to->id = webhook_id::make();
    to->key = secret{"0123456789abcdef01234567"};
    auto event = std::make_shared<outgoing_event>();
    event->id = event_id::make();
    event->body = "{}";
    delivery_job job;
    job.event = event;
    job.to = to;
    return job;
}

} // namespace

TEST_CASE("a response is read with its status and Retry-After", "[webhooks][sender]")
{
    http::client_response response;
    response.status = 503;
    response.headers.emplace_back("retry-after", "120");

    const auto result = read_exchange(response);

    CHECK(result.what == kind::answered);
    CHECK(result.status == 503);
    CHECK(result.retry_after == "120");
    CHECK(result.detail.empty());
}

TEST_CASE("failures of the exchange keep their kind", "[webhooks][sender]")
{
    namespace error = boost::asio::error;
    CHECK(kind_of(failed(exchange_error::timeout)) == kind::timed_out);
    CHECK(kind_of(failed(exchange_error::timeout, {}, 200)) == kind::timed_out);
    CHECK(kind_of(failed(exchange_error::tls)) == kind::tls_failed);
    CHECK(kind_of(failed(exchange_error::refused_address)) == kind::refused_address);
    CHECK(kind_of(failed(exchange_error::connect, error::connection_refused)) ==
          kind::connect_failed);
    CHECK(kind_of(failed(exchange_error::connect, error::host_unreachable)) ==
          kind::connect_failed);
    CHECK(kind_of(failed(exchange_error::closed)) == kind::closed);
    CHECK(kind_of(failed(exchange_error::malformed)) == kind::malformed);
    CHECK(read_exchange(failed(exchange_error::tls)).detail == "why");
}

TEST_CASE("a response that breaks off after its status line is cut short", "[webhooks][sender]")
{
    for (const auto error :
         {exchange_error::closed, exchange_error::malformed, exchange_error::too_large})
        CHECK(kind_of(failed(error, {}, 200)) == kind::cut_short);
}

TEST_CASE("our own failures are distinguished from the receiver's", "[webhooks][sender]")
{
    namespace error = boost::asio::error;
    CHECK(kind_of(failed(exchange_error::resolve, error::host_not_found)) == kind::no_such_host);
    CHECK(kind_of(failed(exchange_error::resolve, error::no_data)) == kind::no_such_host);
    CHECK(kind_of(failed(exchange_error::resolve)) == kind::no_such_host);
    CHECK(kind_of(failed(exchange_error::resolve, error::host_not_found_try_again)) ==
          kind::resolver_failed);
    CHECK(kind_of(failed(exchange_error::resolve, error::no_recovery)) == kind::resolver_failed);
    CHECK(kind_of(failed(exchange_error::connect, error::network_unreachable)) ==
          kind::network_down);
    CHECK(kind_of(failed(exchange_error::connect, error::no_descriptors)) == kind::network_down);
}

TEST_CASE("the headers are those of Standard Webhooks, signed for this attempt",
          "[webhooks][sender]")
{
    auto job = make_job();
    job.attempts_made = 2;
    const auto now = *parse_iso8601("2026-11-21T10:00:00.900Z");

    const auto headers = make_headers(job, now);

    CHECK(header(headers, "webhook-id") == job.event->id.text());
    CHECK(header(headers, "webhook-timestamp") == "1795255200");
    CHECK(header(headers, "webhook-signature") ==
          sign({*job.to->key}, job.event->id.text(), now, "{}"));
    CHECK(header(headers, "webhook-attempt") == "3");
    CHECK(header(headers, "content-type") == "application/json");
    CHECK(header(headers, "traceparent") == "absent");
}

TEST_CASE("the trace of the event goes along", "[webhooks][sender]")
{
    auto job = make_job();
    auto traced = std::make_shared<outgoing_event>(*job.event);
    traced->traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    job.event = traced;

    CHECK(header(make_headers(job, {}), "traceparent") == traced->traceparent);
}
