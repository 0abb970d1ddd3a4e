#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/input_buffer.hpp"
#include "common/http/request_parser.hpp"
#include "common/http/response_head.hpp"
#include "common/http/server.hpp"
#include "common/http/server_metrics.hpp"
#include "common/http/server_trace.hpp"
#include "common/http/transport.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <string>

namespace tempinbox::http {

class session;

// What all sessions of a server share; outlives them.
struct session_context
{
    session_context(runtime::host& owner, server_settings chosen, handler answer,
                    server_hooks asked)
        : host(owner),
          settings(std::move(chosen)),
          handle(std::move(answer)),
          hooks(std::move(asked)),
          metrics(host.metrics(), settings.name)
    {}

    runtime::host& host;
    server_settings settings;
    handler handle;
    server_hooks hooks;
    server_metrics metrics;
    date_header date;
    // Candidates for eviction, the longest in their phase first.
    std::list<session*> lingering; // refused, with what the client still sends to be discarded
    std::list<session*> handshaking;
    std::list<session*> reading_header;
    std::list<session*> reading_body;
    std::list<session*> idle; // between requests, or before the first
    bool is_draining = false;
    bool is_stopped = false;
};

// One connection of a server: reads requests in order, has them handled, writes the responses. Owns
// no timer: the server's sweep calls `expire` a few times a second, which keeps thousands of
// waiting connections cheap.
class session
{
public:
    using clock = std::chrono::steady_clock;

    // With a `refusal` the connection gets 503 with that text and is not counted.
    session(session_context& context, boost::asio::ip::tcp::socket socket,
            boost::asio::ip::address peer, const std::shared_ptr<boost::asio::ssl::context>& tls,
            std::string refusal);
    ~session();
    session(const session&) = delete;

    // Ends when the connection does. The caller keeps the session alive meanwhile.
    awaitable<void> run();

    // Cancels an operation that is past its deadline.
    void expire(clock::time_point now);
    // Closes an idle connection a second later, one with a request after its response.
    void drain();
    // Closes now and notifies a handler in progress.
    void stop();
    // Whether a handler in progress wants to know if the client hangs up; hang_up notifies it.
    bool listens_for_hang_up() const { return phase_ == phase::handling && request_.on_hang_up; }
    void hang_up();
    int native_handle() { return transport_.socket().native_handle(); }
    bool counts() const { return counts_; }
    const boost::asio::ip::address& peer() const { return peer_; }
    bool is_idle() const { return phase_ == phase::idle; }
    // Whether an idle connection may be evicted: no request is on its way.
    bool is_quiet();
    // Of the handshake, or of the request that is read.
    clock::time_point started() const { return started_; }
    // Closes the connection at once; it no longer counts.
    void evict();

private:
    enum class phase {
        handshaking,
        idle,
        reading_header,
        reading_body,
        handling,
        writing,
        lingering
    };
    enum class next_step { closed, goaway, handle, refuse, send_response };

    awaitable<void> serve();
    awaitable<next_step> read_request();
    awaitable<response> call_handler();
    void note_failed_handshake(const boost::system::error_code& failed);
    void note_served(trace::span& span, unsigned status);
    awaitable<bool> send(response answer, bool is_kept);
    awaitable<bool> send_pieces(std::shared_ptr<const body_source> source);
    awaitable<void> linger();
    awaitable<void> send_goaway();
    awaitable<void> discard_input();

    next_step refuse(unsigned status, std::string reason);
    bool is_refused_by_header();
    response own_response(unsigned status, std::string_view message);
    void begin_header();
    void begin_body();
    void extend_body_deadline(std::size_t received);
    std::list<session*>& line_of(phase which);
    void go_to(phase next);
    void arm(std::chrono::milliseconds timeout);
    void disarm() { deadline_ = clock::time_point::max(); }

    session_context& context_;
    transport transport_;
    std::shared_ptr<boost::asio::ssl::context> tls_;
    boost::asio::ip::address peer_;
    std::string refusal_at_once_;
    bool counts_;

    phase phase_ = phase::writing;
    std::list<session*>
        own_list_; // holds the session's entry while it is in none of the context's lists
    std::list<session*>::iterator position_{own_list_.begin()};
    clock::time_point deadline_ = clock::time_point::max();
    clock::time_point started_ = clock::now(); // of the connection, then of each request
    bool is_expired_ = false;
    bool is_http_11_ = true;
    bool client_keeps_ = true;
    bool has_unread_body_ = false;
    unsigned refused_status_ = 400;
    std::string refusal_;
    response early_response_;
    request request_;
    input_buffer input_;
    std::string head_;
};

} // namespace tempinbox::http
