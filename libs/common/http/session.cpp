#include "common/http/session.hpp"

#include "common/http/request_id.hpp"
#include "common/log/log.hpp"
#include "common/trace/current.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>

#include <charconv>

namespace tempinbox::http {

using boost::system::error_code;

namespace {

// On top of the fixed timeout, a transfer gets the time that its bytes take at this rate.
constexpr std::uint64_t min_bytes_per_second = 64 * 1024;
// Bytes of an unread body that are discarded before the connection is cut.
constexpr std::size_t max_discarded = 1024 * 1024;
constexpr std::chrono::milliseconds linger_time{2'000};
// A client on the same network reads well within it that the server goes away.
constexpr std::chrono::milliseconds goaway_time{500};
// While the server drains, a request may still be on its way on a connection that looks idle.
constexpr std::chrono::milliseconds drain_grace{1'000};
constexpr std::size_t body_read_size = 32 * 1024;

std::chrono::milliseconds time_for(std::chrono::milliseconds fixed, std::uint64_t bytes)
{
    return fixed + std::chrono::milliseconds(bytes * 1000 / min_bytes_per_second);
}

// RFC 9112 7.1: an empty chunk is the last.
std::string make_chunk(std::string_view piece)
{
    char size[2 * sizeof(std::size_t)];
    const auto end = std::to_chars(size, size + sizeof size, piece.size(), 16).ptr;
    return std::string(size, end).append("\r\n").append(piece).append("\r\n");
}

} // namespace

session::session(session_context& context, boost::asio::ip::tcp::socket socket,
                 boost::asio::ip::address peer,
                 const std::shared_ptr<boost::asio::ssl::context>& tls, std::string refusal)
    : context_(context),
      transport_(std::move(socket)),
      tls_(tls),
      peer_(std::move(peer)),
      refusal_at_once_(std::move(refusal)),
      counts_(refusal_at_once_.empty()),
      own_list_(1, this)
{
    if (tls_)
        transport_.start_tls(*tls_);
    if (counts_)
        go_to(tls_ ? phase::handshaking : phase::idle);
}

session::~session()
{
    go_to(phase::writing);
}

awaitable<void> session::run()
{
    co_await serve();
    go_to(phase::writing); // leaves the context's lists
    transport_.close();
}

awaitable<void> session::serve()
{
    if (tls_) {
        arm(context_.settings.header_timeout);
        const error_code failed = co_await transport_.accept_tls();
        if (failed) {
            note_failed_handshake(failed);
            co_return;
        }
    }
    if (!refusal_at_once_.empty()) {
        request_.id = choose_request_id(request_);
        response busy = own_response(503, refusal_at_once_);
        busy.set("Retry-After", "1");
        if (co_await send(std::move(busy), false))
            co_await linger();
        co_return;
    }

    bool goes_on = true;
    while (goes_on) {
        request_ = request();
        request_.peer = peer_;
        request_.is_tls = tls_ != nullptr;
        const next_step step = co_await read_request();
        if (step == next_step::goaway && !context_.is_stopped)
            co_await send_goaway();
        if (step == next_step::closed || step == next_step::goaway || context_.is_stopped)
            co_return;
        const server_metrics::active_request counted(context_.metrics);
        request_.id = choose_request_id(request_);
        auto span = begin_request_span(context_.host.tracer(), context_.settings, request_);
        response answer;
        if (step == next_step::refuse)
            answer = own_response(refused_status_, refusal_);
        else if (step == next_step::send_response)
            answer = std::move(early_response_);
        else if (span.context().is_valid())
            answer =
                co_await trace::run_in(context_.host.executor(), span.context(), call_handler());
        else
            answer = co_await call_handler();

        // After unread bytes or a body without framing, no further request can be found.
        const bool ends_by_closing = answer.source && !is_http_11_;
        const bool cuts = step == next_step::refuse || has_unread_body_ || ends_by_closing;
        goes_on = !cuts && client_keeps_ && !context_.is_draining;
        const auto status = answer.status;
        const bool is_sent = co_await send(std::move(answer), goes_on);
        if (context_.is_stopped) // the route's name may be gone
            co_return;
        note_served(span, status);
        if (!is_sent)
            co_return;
        if (cuts)
            co_await linger();
    }
    if (tls_) {
        arm(linger_time);
        co_await transport_.shut_down_tls();
    }
}

// On a port for anybody, failed handshakes are everyday life. Where all clients are the operator's
// own, each says that a setting or a certificate is wrong.
void session::note_failed_handshake(const error_code& failed)
{
    // A probe of the port connects and closes.
    const bool is_probe = failed == boost::asio::error::eof ||
                          failed == boost::asio::ssl::error::stream_truncated ||
                          failed == boost::asio::error::connection_reset;
    if (!context_.settings.tls || is_probe || context_.is_stopped)
        return;
    log::warning("a TLS connection was not made",
                 {{"server", context_.settings.name},
                  {"client_address", peer_.to_string()},
                  {"error", is_expired_ ? "the TLS handshake took too long"
                                        : transport_.describe_handshake(failed)}});
}

void session::note_served(trace::span& span, unsigned status)
{
    const auto took = clock::now() - started_;
    context_.metrics.observe(request_.method, request_.route, status, took);
    if (context_.settings.logs_access && log::writes(log::line_class::access))
        log_access(span, context_.settings, request_, status, took);
    end_request_span(span, context_.settings, request_, status);
}

awaitable<session::next_step> session::read_request()
{
    const auto& settings = context_.settings;
    request_parser parser(request_, settings.header_limit, settings.body_limit);
    has_unread_body_ = false;
    go_to(phase::idle);
    arm(context_.is_draining ? std::min(settings.idle_timeout, drain_grace)
                             : settings.idle_timeout);
    for (;;) {
        if (phase_ == phase::idle)
            begin_header();
        if ((phase_ == phase::reading_header || phase_ == phase::reading_body) && !input_.empty()) {
            input_.consume(parser.feed(input_.view()));
            is_http_11_ = parser.is_http_11();
            client_keeps_ = parser.wants_keep_alive();
            const progress found = parser.state();
            const bool is_past_header = found == progress::header || found == progress::complete ||
                                        found == progress::body_too_large;
            if (phase_ == phase::reading_header && is_past_header && is_refused_by_header()) {
                has_unread_body_ = found != progress::complete;
                co_return next_step::send_response;
            }
            switch (found) {
            case progress::complete:
                co_return next_step::handle;
            case progress::malformed:
                co_return refuse(parser.status(), parser.reason());
            case progress::header_too_large:
                co_return refuse(431, "The request header must be at most " +
                                          std::to_string(settings.header_limit) + " bytes");
            case progress::body_too_large:
                request_.body = std::string();
                request_.body_too_large = true;
                has_unread_body_ = true;
                co_return next_step::handle;
            case progress::header:
                begin_body();
                // RFC 9110 10.1.1: not needed if the body has begun.
                if (parser.expects_continue() && is_http_11_ && input_.empty()) {
                    const buffer_pair interim{
                        boost::asio::buffer("HTTP/1.1 100 Continue\r\n\r\n", 25),
                        boost::asio::const_buffer()};
                    const transfer written = co_await transport_.write(interim);
                    if (written.error)
                        co_return next_step::closed;
                }
                if (!input_.empty())
                    continue;
                break;
            case progress::need_more:
                // Only a chunk header or a trailer can be this long.
                if (input_.size() >= std::max<std::size_t>(settings.header_limit, body_read_size))
                    co_return refuse(400, "The chunked body is malformed");
                break;
            }
        }
        const auto into =
            input_.prepare(parser.is_in_body() ? body_read_size : input_buffer::small);
        const transfer got = co_await transport_.read_some(into);
        if (got.error) {
            if (is_expired_ && (phase_ == phase::reading_header || phase_ == phase::reading_body))
                co_return refuse(408, parser.is_in_body()
                                          ? "The body came at less than " +
                                                std::to_string(settings.min_body_bytes_per_second) +
                                                " bytes a second"
                                          : "The request header took too long");
            const bool says_so = is_expired_ && phase_ == phase::idle && context_.is_draining &&
                                 context_.settings.goaway;
            co_return says_so ? next_step::goaway : next_step::closed;
        }
        input_.commit(got.bytes);
        if (phase_ == phase::reading_body)
            extend_body_deadline(got.bytes);
    }
}

// RFC 9112 2.2: skips empty lines before a request. The clock of a request starts with its first
// byte.
void session::begin_header()
{
    while (!input_.empty() && (input_.view().front() == '\r' || input_.view().front() == '\n'))
        input_.consume(1);
    if (input_.empty())
        return;
    go_to(phase::reading_header);
    started_ = clock::now();
    arm(context_.settings.header_timeout);
}

void session::begin_body()
{
    go_to(phase::reading_body);
    arm(context_.settings.body_timeout);
    extend_body_deadline(input_.size());
}

void session::extend_body_deadline(std::size_t received)
{
    deadline_ += std::chrono::microseconds(received * 1'000'000 /
                                           context_.settings.min_body_bytes_per_second);
}

session::next_step session::refuse(unsigned status, std::string reason)
{
    refused_status_ = status;
    refusal_ = std::move(reason);
    return next_step::refuse;
}

// Whether the owner responds from the header alone.
bool session::is_refused_by_header()
{
    if (!context_.hooks.judge_header)
        return false;
    auto refused = context_.hooks.judge_header(request_);
    if (refused)
        early_response_ = std::move(*refused);
    return refused.has_value();
}

response session::own_response(unsigned status, std::string_view message)
{
    auto answer = error_response(status, message);
    if (context_.hooks.complete_own_response)
        context_.hooks.complete_own_response(request_, answer);
    return answer;
}

awaitable<response> session::call_handler()
{
    disarm();
    input_.shrink();
    go_to(phase::handling);
    std::string error;
    bool is_dependency = false;
    try {
        response answer = co_await context_.handle(request_);
        co_return answer;
    } catch (const dependency_error& lost) {
        is_dependency = true;
        error = lost.what();
    } catch (const std::exception& bug) {
        error = bug.what();
    }
    const auto severity = is_dependency ? log::level::warning : log::level::error;
    log::write(severity, is_dependency ? "a dependency did not answer" : "a request failed",
               {{"server", context_.settings.name},
                {"request_id", request_.id},
                {"http_request_method", request_.method},
                {"http_route", request_.route},
                {"error", error}});
    if (!is_dependency)
        co_return own_response(500, "Something failed on our side; the request id names this case");
    response answer =
        own_response(503, "A part of the service cannot be reached; try again shortly");
    answer.set("Retry-After", "1");
    co_return answer;
}

awaitable<bool> session::send(response answer, bool is_kept)
{
    go_to(phase::writing);
    head_options options;
    options.date = context_.date.text();
    options.request_id = request_.id;
    options.is_http_11 = is_http_11_;
    options.is_kept = is_kept;
    options.is_streamed = answer.source != nullptr;
    head_.clear();
    append_response_head(head_, answer, options);
    const bool has_body = request_.method != "HEAD" && status_has_content(answer.status);
    if (has_body && options.is_streamed)
        co_return co_await send_pieces(std::move(answer.source));
    const std::string_view body = has_body ? std::string_view(answer.body) : std::string_view();

    buffer_pair bytes{boost::asio::buffer(head_), boost::asio::buffer(body)};
    const transfer first = transport_.try_write(bytes);
    if (first.error)
        co_return false;
    if (first.bytes == head_.size() + body.size())
        co_return true;
    const auto from_head = std::min(first.bytes, head_.size());
    bytes[0] += from_head;
    bytes[1] += first.bytes - from_head;
    arm(time_for(context_.settings.write_timeout, body.size()));
    const transfer rest = co_await transport_.write(bytes);
    co_return !rest.error;
}

// The head goes out first, since the first piece may take long. Between pieces the session watches
// for the client hanging up, as it does while a handler works.
awaitable<bool> session::send_pieces(std::shared_ptr<const body_source> source)
{
    bool is_complete = false;
    for (;;) {
        const buffer_pair bytes{boost::asio::buffer(head_), boost::asio::const_buffer()};
        phase_ = phase::writing;
        arm(time_for(context_.settings.write_timeout, head_.size()));
        const transfer sent = co_await transport_.write(bytes);
        if (sent.error || is_complete || context_.is_stopped) {
            source->stop();
            co_return !sent.error && is_complete;
        }
        disarm();
        phase_ = phase::handling;
        request_.on_hang_up = source->stop;
        auto coming = source->next();
        const std::string piece = co_await std::move(coming);
        request_.on_hang_up = nullptr;
        is_complete = piece.empty();
        head_ = is_http_11_ ? make_chunk(piece) : piece;
    }
}

// Closing while the client still sends would reset the connection, and the client might lose the
// response (RFC 9112 9.6). Meanwhile the connection is the first to make room.
awaitable<void> session::linger()
{
    if (counts_)
        go_to(phase::lingering);
    arm(linger_time);
    // Ends at once if the client still sends, with its bytes unread.
    co_await transport_.shut_down_tls();
    if (!is_expired_)
        co_await discard_input();
}

// A request that crosses it must not reset the connection before the client has read it.
awaitable<void> session::send_goaway()
{
    request_ = request();
    const bool is_sent = co_await send(*context_.settings.goaway, false);
    arm(goaway_time);
    if (is_sent)
        co_await discard_input();
}

awaitable<void> session::discard_input()
{
    error_code ignored;
    transport_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
    input_.release();
    for (std::size_t discarded = 0; discarded < max_discarded;) {
        const auto into = input_.prepare(body_read_size);
        const transfer got = co_await transport_.read_some(into);
        if (got.error)
            co_return;
        discarded += got.bytes;
    }
}

std::list<session*>& session::line_of(phase which)
{
    switch (which) {
    case phase::lingering:
        return context_.lingering;
    case phase::handshaking:
        return context_.handshaking;
    case phase::reading_header:
        return context_.reading_header;
    case phase::reading_body:
        return context_.reading_body;
    case phase::idle:
        return context_.idle;
    default:
        return own_list_;
    }
}

void session::go_to(phase next)
{
    auto& from = line_of(phase_);
    auto& to = line_of(next);
    if (&from != &to)
        to.splice(to.end(), from, position_);
    phase_ = next;
}

bool session::is_quiet()
{
    return input_.empty() && transport_.is_quiet();
}

void session::evict()
{
    go_to(phase::writing); // leaves the lists, so that it is not evicted twice
    counts_ = false;
    transport_.close();
}

void session::arm(std::chrono::milliseconds timeout)
{
    is_expired_ = false;
    deadline_ = clock::now() + timeout;
}

void session::expire(clock::time_point now)
{
    if (now < deadline_)
        return;
    disarm();
    is_expired_ = true;
    transport_.cancel();
}

void session::drain()
{
    if (phase_ == phase::idle && input_.empty())
        deadline_ = std::min(deadline_, clock::now() + drain_grace);
}

void session::stop()
{
    transport_.close();
    if (phase_ == phase::handling)
        hang_up();
}

void session::hang_up()
{
    if (const auto notify = std::exchange(request_.on_hang_up, nullptr))
        notify();
}

} // namespace tempinbox::http
