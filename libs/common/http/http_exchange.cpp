#include "common/http/http_exchange.hpp"

#include "common/http/request_head.hpp"
#include "common/http/resolve.hpp"
#include "common/http/response_parser.hpp"

#include <boost/asio/ssl/error.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>

#include <algorithm>

namespace tempinbox::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr unsigned max_interim_responses = 8;
constexpr std::size_t body_read_size = 32 * 1024;

// RFC 8446 6.2: the alerts of a server that does not take a client's certificate.
bool is_certificate_alert(const error_code& failed)
{
    if (failed.category() != asio::error::get_ssl_category())
        return false;
    switch (ERR_GET_REASON(static_cast<unsigned long>(failed.value()))) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        return true;
    default:
        return false;
    }
}

} // namespace

void watchdog::arm(clock::time_point when)
{
    when_ = when;
    timer_.expires_at(when);
    timer_.async_wait([self = shared_from_this()](error_code moved) {
        if (moved || clock::now() < self->when_)
            return;
        self->is_expired_ = true;
        if (self->wire_)
            self->wire_->cancel();
    });
}

void watchdog::disarm()
{
    when_ = clock::time_point::max();
    wire_ = nullptr;
    is_expired_ = false;
    timer_.cancel();
}

http_exchange::http_exchange(client_context& context, client_request outgoing)
    : context_(context),
      request_(std::move(outgoing)),
      started_(watchdog::clock::now()),
      deadline_(started_ + request_.deadline),
      watch_(std::make_shared<watchdog>(context.loop))
{}

http_exchange::~http_exchange()
{
    watch_->disarm();
}

awaitable<client_response> http_exchange::perform()
{
    auto url = target_url::parse(request_.url);
    if (!url) {
        fail(exchange_error::malformed, url.error().message);
    } else {
        url_ = std::move(*url);
        auto head = make_request_head(request_, url_);
        if (!head) {
            fail(exchange_error::malformed, head.error().message);
        } else {
            head_ = std::move(*head);
            std::string host = request_.pool + (url_.is_tls ? " https " : " http ") + url_.host +
                               " " + std::to_string(url_.port);
            // A connection whose certificate is for one name is not used for another.
            if (!request_.tls_name.empty())
                host += " " + request_.tls_name;
            auto pooled_connection = co_await context_.pool->acquire(std::move(host), deadline_);
            if (pooled_connection)
                co_await perform_with(*pooled_connection);
            else
                fail(exchange_error::timeout, "no connection to the host became free in time");
        }
    }
    const auto took = watchdog::clock::now() - started_;
    response_.took = std::chrono::duration_cast<std::chrono::milliseconds>(took);
    co_return std::move(response_);
}

awaitable<void> http_exchange::perform_with(connection_pool::pooled_connection& pooled_connection)
{
    auto wire = pooled_connection.take_idle();
    if (wire) {
        const ending reused = co_await converse(*wire);
        if (reused == ending::answered) {
            watch_->disarm();
            if (is_reusable_)
                pooled_connection.keep(std::move(wire));
            co_return;
        }
        // As a rule the server closed the connection while it was idle, so a new one sends the
        // request again.
        pooled_connection.discard_idle();
        watch_->disarm();
        if (!request_.may_repeat) {
            fail(exchange_error::closed, "the connection closed before any response",
                 error_code(response_.cause));
            co_return;
        }
        response_.is_sent = false;
    }
    wire = co_await dial(pooled_connection);
    if (!wire)
        co_return;
    const ending fresh = co_await converse(*wire);
    watch_->disarm();
    if (fresh == ending::died_unanswered && is_certificate_alert(response_.cause)) {
        // RFC 8446 2: a TLS 1.3 client has finished before the server checks its certificate, so
        // the refusal comes as the first thing that is read. The server took no request.
        response_.is_sent = false;
        const error_code alert = response_.cause;
        fail(exchange_error::tls,
             "the server refused this client's certificate: " + alert.message(), alert);
    } else if (fresh == ending::died_unanswered)
        fail(exchange_error::closed, "the connection closed before any response");
    else if (is_reusable_)
        pooled_connection.keep(std::move(wire));
}

// Dials exactly the addresses that were checked: a name that resolves differently in between gains
// nothing.
awaitable<std::unique_ptr<transport>>
http_exchange::dial(connection_pool::pooled_connection& pooled_connection)
{
    const address_list addresses = co_await find_addresses();
    for (const auto& address : addresses) {
        if (context_.settings.allow_address && !context_.settings.allow_address(address)) {
            fail(exchange_error::refused_address,
                 "the host has an address that must not be called");
            co_return nullptr;
        }
    }
    for (const auto& address : addresses) {
        auto wire = co_await connect(address);
        if (!wire)
            continue;
        if (url_.is_tls) {
            if (!co_await secure(*wire, pooled_connection))
                co_return nullptr;
        }
        response_.error = exchange_error::none;
        response_.error_text.clear();
        response_.cause = error_code();
        co_return std::move(wire);
    }
    co_return nullptr;
}

awaitable<http_exchange::address_list> http_exchange::find_addresses()
{
    address_list addresses;
    error_code error;
    const auto literal = asio::ip::make_address(url_.host, error);
    if (!error) {
        addresses.push_back(literal);
        co_return addresses;
    }
    resolution found =
        co_await resolve(context_.loop, context_.settings.resolve, url_.host, deadline_);
    if (!found.is_finished)
        fail(exchange_error::timeout, "the host name was not resolved in time");
    else if (found.addresses.empty())
        fail(exchange_error::resolve, found.error_text, found.cause);
    co_return std::move(found.addresses);
}

awaitable<std::unique_ptr<transport>> http_exchange::connect(asio::ip::address address)
{
    const auto now = watchdog::clock::now();
    auto wire = std::make_unique<transport>(asio::ip::tcp::socket(context_.loop));
    watch_->disarm();
    watch_->guard(wire.get());
    watch_->arm(std::min(deadline_, now + context_.settings.connect_timeout));
    const asio::ip::tcp::endpoint peer(address, url_.port);
    const error_code failed = co_await wire->connect(peer);
    const bool is_late = watch_->is_expired();
    watch_->disarm();
    // Reports the failure of the first of several addresses: resolvers put those that cannot be
    // reached from here last.
    const bool is_first_failure = response_.error == exchange_error::none;
    if (is_first_failure && is_late)
        fail(exchange_error::timeout, "the connection was not made in time");
    else if (is_first_failure && failed)
        fail(exchange_error::connect, "the connection was not made: " + failed.message(), failed);
    if (is_late || failed)
        wire.reset();
    co_return std::move(wire);
}

awaitable<bool> http_exchange::secure(transport& wire,
                                      connection_pool::pooled_connection& pooled_connection)
{
    const auto given = context_.settings.tls ? context_.settings.tls() : nullptr;
    SSL* const tls = wire.start_tls(given ? *given : context_.tls);
    pooled_connection.collect_sessions(tls);
    if (const auto session = pooled_connection.take_session())
        SSL_set_session(tls, session.get());
    const auto now = watchdog::clock::now();
    watch_->guard(&wire);
    watch_->arm(std::min(deadline_, now + context_.settings.tls_timeout));
    const error_code failed =
        co_await wire.connect_tls(request_.tls_name.empty() ? url_.host : request_.tls_name,
                                  context_.settings.verify_certificates);
    const bool is_late = watch_->is_expired();
    watch_->disarm();
    if (!failed && !is_late) {
        if (context_.settings.on_handshake)
            context_.settings.on_handshake(SSL_session_reused(tls) == 1);
        co_return true;
    }
    pooled_connection.discard_sessions();
    if (is_late)
        fail(exchange_error::timeout, "the TLS handshake took too long");
    else
        fail(exchange_error::tls, wire.describe_handshake(failed), failed);
    co_return false;
}

awaitable<http_exchange::ending> http_exchange::converse(transport& wire)
{
    watch_->guard(&wire);
    watch_->arm(deadline_);
    is_reusable_ = false;
    response_.is_sent = true;
    // Writes what the kernel takes at once without a round through the loop, then the rest.
    const std::size_t whole = head_.size() + request_.body.size();
    buffer_pair bytes{asio::buffer(head_), asio::buffer(request_.body)};
    transfer sent = wire.try_write(bytes);
    if (!sent.error && sent.bytes < whole) {
        const auto of_head = std::min(sent.bytes, head_.size());
        bytes[0] += of_head;
        bytes[1] += sent.bytes - of_head;
        sent = co_await wire.write(bytes);
    }
    // A failed write does not end the exchange: a server may respond early and close.

    input_buffer input;
    const auto new_parser = [this](std::optional<response_parser>& slot) {
        slot.emplace(response_, request_.method == "HEAD", context_.settings.header_limit,
                     context_.settings.body_limit);
    };
    std::optional<response_parser> parser;
    new_parser(parser);
    bool has_begun = false;
    bool wants_bytes = true;
    unsigned interim = 0;
    for (;;) {
        if (wants_bytes) {
            const auto into =
                input.prepare(parser->is_in_body() ? body_read_size : 2 * input_buffer::small);
            transfer got;
            if (!watch_->is_expired())
                got = co_await wire.read_some(into);
            if (watch_->is_expired()) {
                fail(exchange_error::timeout,
                     has_begun ? "the response took too long" : "no response came in time");
                co_return ending::answered;
            }
            if (got.error && !has_begun) {
                response_.cause = got.error;
                co_return ending::died_unanswered;
            }
            if (got.error == asio::error::eof) {
                parser->finish();
            } else if (got.error) {
                fail(exchange_error::closed,
                     "the connection broke in the middle of the response: " + got.error.message(),
                     got.error);
                co_return ending::answered;
            } else {
                has_begun = true;
                input.commit(got.bytes);
            }
        }
        if (!input.empty() && parser->state() == progress::need_more)
            input.consume(parser->feed(input.view()));
        wants_bytes = parser->state() == progress::need_more || input.empty();
        // The bytes of a body are consumed at once, so what is left is the beginning of an endless
        // chunk header or endless trailers.
        if (wants_bytes && parser->is_in_body() && input.size() > context_.settings.header_limit) {
            fail(exchange_error::too_large,
                 "the response has a chunk header or trailers without an end");
            co_return ending::answered;
        }

        switch (parser->state()) {
        case progress::need_more:
            if (request_.on_progress && parser->is_in_body() && response_.status >= 200)
                request_.on_progress(response_);
            continue;
        case progress::header:
            continue;
        case progress::complete:
            break;
        case progress::malformed:
            fail(exchange_error::malformed, "the response is malformed: " + parser->reason());
            co_return ending::answered;
        case progress::header_too_large:
            fail(exchange_error::too_large, "the response header is too large");
            co_return ending::answered;
        case progress::body_too_large:
            fail(exchange_error::too_large, "the response body is too large");
            co_return ending::answered;
        }
        // RFC 9110 15.2: interim responses come before the real one.
        if (response_.status >= 200)
            break;
        if (++interim > max_interim_responses || response_.status == 101) {
            fail(exchange_error::malformed,
                 "the response is malformed: interim responses without an end");
            co_return ending::answered;
        }
        response_.status = 0;
        response_.headers.clear();
        new_parser(parser);
    }
    is_reusable_ = parser->leaves_connection_open() && input.empty() && !sent.error;
    co_return ending::answered;
}

void http_exchange::fail(exchange_error error, std::string text, error_code cause)
{
    response_.error = error;
    response_.error_text = std::move(text);
    response_.cause = cause;
}

} // namespace tempinbox::http
