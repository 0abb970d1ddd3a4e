#include "common/http/server.hpp"

#include "common/async/reset_event.hpp"
#include "common/core/client_limiter.hpp"
#include "common/http/session.hpp"
#include "common/log/log.hpp"
#include "common/tls/certificate.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <openssl/ssl.h>
#include <poll.h>

#include <algorithm>
#include <list>
#include <stdexcept>

namespace tempinbox::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds hang_up_interval{500};
constexpr std::chrono::milliseconds accept_retry_delay{100};
// Connections over the limit that may wait for their 503 at a time; others are closed without one.
constexpr std::size_t max_refusals = 256;

// Idle connections up to this fraction (1/10) of the connection limit are never evicted.
constexpr std::size_t idle_share = 10;
// Idle connections checked for one new connection: a request may be on its way on some.
constexpr int max_idle_checks = 16;
// A full server evicts a body or a handshake before idle connections only if it takes longer than
// this, so that new connections do not evict each other.
constexpr std::chrono::milliseconds slow_after{1'000};

asio::ip::address peer_of(const tcp::socket& socket)
{
    error_code gone;
    auto peer = socket.remote_endpoint(gone).address();
    if (peer.is_v6() && peer.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, peer.to_v6());
    return peer;
}

tcp::endpoint resolve_listen(asio::io_context& loop, const host_port& listen)
{
    error_code error;
    const auto literal = asio::ip::make_address(listen.host, error);
    if (!error)
        return {literal, listen.port};
    tcp::resolver resolver(loop);
    const auto found =
        resolver.resolve(listen.host, std::to_string(listen.port), tcp::resolver::passive, error);
    if (error || found.empty())
        throw std::runtime_error("cannot listen on " + listen.text() + ": " + error.message());
    return found.begin()->endpoint();
}

// RFC 7301: selects HTTP/1.1, the only protocol spoken here, if the client offers it.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_length,
                    const unsigned char* offered, unsigned offered_length, void*)
{
    static constexpr unsigned char ours[] = "\x08http/1.1";
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, chosen_length, ours, sizeof ours - 1, offered,
                              offered_length) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

void speak_http(asio::ssl::context& context)
{
    SSL_CTX_set_alpn_select_cb(context.native_handle(), choose_protocol, nullptr);
}

} // namespace

struct server::state : std::enable_shared_from_this<server::state>
{
    state(runtime::host& owner, server_settings settings, handler handle, server_hooks hooks)
        : host(owner),
          context(owner, std::move(settings), std::move(handle), std::move(hooks)),
          acceptor(owner.loop()),
          sweep_timer(owner.loop()),
          all_closed(owner.executor(), async::reset_event::mode::automatic)
    {}

    void listen();
    void adopt(tcp::socket socket);
    std::string reason_to_refuse(const asio::ip::address& peer);
    session* find_eviction_candidate() const;
    bool make_room();
    std::shared_ptr<asio::ssl::context> tls_context() const;
    void enter(const asio::ip::address& peer);
    void leave(const asio::ip::address& peer);
    void accept_waiting();
    void remove(std::list<std::shared_ptr<session>>::iterator position);
    void check_for_hang_ups();
    std::chrono::milliseconds sweep_interval() const;

    static awaitable<void> accept_loop(std::shared_ptr<state> self);
    static awaitable<void> sweep_loop(std::shared_ptr<state> self);
    static awaitable<void> drain(std::shared_ptr<state> self, std::chrono::milliseconds timeout);

    runtime::host& host;
    session_context context;
    tls::context_source certificate; // empty: plain, or by the settings' own source
    tcp::acceptor acceptor;
    host_port local;
    std::list<std::shared_ptr<session>> sessions;
    std::size_t counted = 0;
    client_limiter by_address{context.settings.connections_per_address, context.settings.uncounted};
    bool is_accepting = false;
    asio::steady_timer sweep_timer;
    async::reset_event all_closed; // and none is being accepted
};

server::server(runtime::host& host, server_settings settings, handler handle, server_hooks hooks)
    : state_(
          std::make_shared<state>(host, std::move(settings), std::move(handle), std::move(hooks)))
{}

server::~server()
{
    stop();
}

void server::start()
{
    const auto& settings = state_->context.settings;
    if (!settings.certificate_file.empty()) {
        auto& host = state_->host;
        auto certificate = tls::watch_certificate(
            host.files(), host.metrics(),
            {"tls-certificate-file", settings.certificate_file, settings.key_file}, speak_http);
        state_->certificate = std::move(certificate.current);
        certificate_ = std::move(certificate.watched);
    }
    state_->listen();
    asio::co_spawn(state_->host.executor(), state::accept_loop(state_), asio::detached);
    asio::co_spawn(state_->host.executor(), state::sweep_loop(state_), asio::detached);
}

host_port server::local_address() const
{
    return state_->local;
}

std::size_t server::connections() const
{
    return state_->counted;
}

awaitable<void> server::drain(std::chrono::milliseconds timeout)
{
    return state::drain(state_, timeout);
}

void server::stop()
{
    state_->context.is_stopped = true;
    error_code ignored;
    state_->acceptor.close(ignored);
    state_->sweep_timer.cancel();
    for (const auto& open : state_->sessions)
        open->stop();
}

void server::state::listen()
{
    const auto& settings = context.settings;
    const auto endpoint = resolve_listen(host.loop(), settings.listen);
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error)
        acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && endpoint.address().is_v6() && endpoint.address().is_unspecified())
        acceptor.set_option(asio::ip::v6_only(false), error);
    if (!error)
        acceptor.bind(endpoint, error);
    if (!error)
        acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error)
        acceptor.non_blocking(true, error);
    if (error)
        throw std::runtime_error("cannot listen on " + settings.listen.text() + ": " +
                                 error.message());
    const auto bound = acceptor.local_endpoint();
    local = host_port(bound.address().to_string(), bound.port());
}

awaitable<void> server::state::accept_loop(std::shared_ptr<state> self)
{
    self->is_accepting = true;
    while (self->acceptor.is_open()) {
        auto [error, socket] = co_await self->acceptor.async_accept(tuple_awaitable);
        if (!error) {
            self->adopt(std::move(socket));
            continue;
        }
        if (error == asio::error::operation_aborted || !self->acceptor.is_open())
            break;
        if (error == asio::error::connection_aborted)
            continue;
        // Out of descriptors or memory: the loop must run to free some, so an immediate retry is
        // useless.
        log::warning("cannot accept a connection",
                     {{"server", self->context.settings.name}, {"error", error.message()}});
        asio::steady_timer delay(self->host.loop(), accept_retry_delay);
        co_await delay.async_wait(tuple_awaitable);
    }
    self->is_accepting = false;
    self->all_closed.set();
}

void server::state::adopt(tcp::socket socket)
{
    const auto peer = peer_of(socket);
    auto refusal = reason_to_refuse(peer);
    const auto tls = tls_context();
    // A TLS handshake costs too much just to send a refusal.
    if (!refusal.empty() && (tls || sessions.size() - counted >= max_refusals))
        return;
    const auto fresh =
        std::make_shared<session>(context, std::move(socket), peer, tls, std::move(refusal));
    if (fresh->counts())
        enter(peer);
    const auto position = sessions.insert(sessions.end(), fresh);
    asio::co_spawn(host.executor(), fresh->run(),
                   [self = shared_from_this(), position](std::exception_ptr failed) {
                       if (failed)
                           log::error("a connection's session failed",
                                      {{"server", self->context.settings.name}});
                       self->remove(position);
                   });
}

// For a new connection; null: it is plain.
std::shared_ptr<asio::ssl::context> server::state::tls_context() const
{
    if (context.settings.tls)
        return context.settings.tls();
    return certificate ? certificate() : nullptr;
}

// Why a new connection is refused; empty if it is accepted.
std::string server::state::reason_to_refuse(const asio::ip::address& peer)
{
    if (const auto full = by_address.find_full(peer)) {
        context.metrics.address_refused();
        return "Too many connections from " + full->name() + ": " + std::to_string(full->max) +
               " are open";
    }
    if (counted < context.settings.connection_limit || make_room())
        return {};
    context.metrics.connection_refused();
    return "Too many connections; try again shortly";
}

// A client that was refused has had its response. A well-meaning one sends its header in one piece
// and its body soon after, so connections that are still sending them come next.
session* server::state::find_eviction_candidate() const
{
    const auto oldest = [](const std::list<session*>& phase) {
        return phase.empty() ? nullptr : phase.front();
    };
    const auto is_slow = [now = session::clock::now()](const session* one) {
        return one && now - one->started() > slow_after;
    };
    if (const auto refused = oldest(context.lingering))
        return refused;
    if (const auto header = oldest(context.reading_header))
        return header;
    const auto body = oldest(context.reading_body);
    if (is_slow(body))
        return body;
    const auto handshake = oldest(context.handshaking);
    if (is_slow(handshake))
        return handshake;
    if (context.idle.size() > context.settings.connection_limit / idle_share) {
        auto next = context.idle.begin();
        for (int checks = 0; checks < max_idle_checks && next != context.idle.end();
             ++checks, ++next)
            if ((*next)->is_quiet())
                return *next;
    }
    return handshake ? handshake : body;
}

bool server::state::make_room()
{
    session* const ended = find_eviction_candidate();
    if (!ended)
        return false;
    if (ended->is_idle())
        context.metrics.idle_closed();
    else
        context.metrics.slow_closed();
    ended->evict();
    leave(ended->peer());
    return true;
}

void server::state::enter(const asio::ip::address& peer)
{
    ++counted;
    by_address.enter(peer);
    context.metrics.connection_opened();
}

void server::state::leave(const asio::ip::address& peer)
{
    --counted;
    by_address.leave(peer);
    context.metrics.connection_closed();
}

void server::state::remove(std::list<std::shared_ptr<session>>::iterator position)
{
    if ((*position)->counts())
        leave((*position)->peer());
    sessions.erase(position);
    if (sessions.empty())
        all_closed.set();
}

// Closing the listener would reset the connections that the kernel has already accepted.
void server::state::accept_waiting()
{
    for (;;) {
        error_code error;
        tcp::socket socket(host.loop());
        acceptor.accept(socket, error);
        if (error)
            return;
        adopt(std::move(socket));
    }
}

std::chrono::milliseconds server::state::sweep_interval() const
{
    const auto& settings = context.settings;
    const auto min_timeout = std::min({settings.header_timeout, settings.body_timeout,
                                       settings.idle_timeout, settings.write_timeout});
    return std::clamp(min_timeout / 4, std::chrono::milliseconds(10),
                      std::chrono::milliseconds(250));
}

awaitable<void> server::state::sweep_loop(std::shared_ptr<state> self)
{
    auto next_check = session::clock::now();
    while (!self->context.is_stopped || !self->sessions.empty()) {
        self->sweep_timer.expires_after(self->sweep_interval());
        co_await self->sweep_timer.async_wait(tuple_awaitable);
        const auto now = session::clock::now();
        for (const auto& open : self->sessions)
            open->expire(now);
        if (now < next_check)
            continue;
        next_check = now + hang_up_interval;
        self->check_for_hang_ups();
    }
}

// One system call for all waiting handlers; a half-closed connection counts as hung up.
void server::state::check_for_hang_ups()
{
    std::vector<pollfd> descriptors;
    std::vector<std::shared_ptr<session>> waiting;
    for (const auto& open : sessions) {
        if (!open->listens_for_hang_up())
            continue;
        descriptors.push_back(pollfd{open->native_handle(), POLLRDHUP, 0});
        waiting.push_back(open);
    }
    if (descriptors.empty() || ::poll(descriptors.data(), descriptors.size(), 0) <= 0)
        return;
    for (std::size_t i = 0; i < descriptors.size(); ++i)
        if (descriptors[i].revents != 0)
            waiting[i]->hang_up();
}

awaitable<void> server::state::drain(std::shared_ptr<state> self, std::chrono::milliseconds timeout)
{
    const auto deadline = session::clock::now() + timeout;
    self->context.is_draining = true;
    if (self->acceptor.is_open()) {
        self->accept_waiting();
        error_code ignored;
        self->acceptor.close(ignored);
    }
    for (const auto& open : self->sessions)
        open->drain();
    // The kernel may be about to pass a connection to the accept loop.
    while ((!self->sessions.empty() || self->is_accepting) && session::clock::now() < deadline)
        co_await self->all_closed.wait_until(deadline);
    if (self->sessions.empty()) {
        self->context.is_stopped = true;
        self->sweep_timer.cancel();
    }
}

} // namespace tempinbox::http
