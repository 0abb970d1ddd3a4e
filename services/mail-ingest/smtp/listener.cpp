#include "mail-ingest/smtp/listener.hpp"

#include "common/log/log.hpp"
#include "mail-ingest/smtp/proxy_header.hpp"
#include "mail-ingest/smtp/replies.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <list>
#include <tuple>
#include <unordered_set>

namespace tempinbox::smtp {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using steady = std::chrono::steady_clock;

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);
constexpr int backlog = 4'096;
constexpr std::chrono::milliseconds deadline_check_interval{500};
constexpr std::chrono::milliseconds accept_retry_delay{100};
constexpr std::chrono::milliseconds drain_check_interval{20};

std::string_view reason_of(client_limiter::admission admission)
{
    return admission == client_limiter::admission::too_many ? "all" : "address";
}

host_port address_of(const tcp::acceptor& acceptor)
{
    const auto endpoint = acceptor.local_endpoint();
    return host_port(endpoint.address().to_string(), endpoint.port());
}

// Best effort: the client gets one line if it fits the socket's send buffer. One that begins with
// TLS could not read it.
void turn_away(const listening_port& port, tcp::socket& socket, std::string_view reply)
{
    error_code ignored;
    const auto line = std::string(reply) + "\r\n";
    if (port.kind != port_kind::submissions)
        socket.write_some(asio::buffer(line), ignored);
    socket.shutdown(tcp::socket::shutdown_both, ignored);
}

// A connection from a balancer, or from anybody who takes its port for another, before its header.
struct waiting_connection
{
    const listening_port& port;
    tcp::socket socket;
    boost::asio::ip::address peer;
    bool is_trusted = false; // the peer belongs to proxy-networks
    steady::time_point deadline;
    bool has_timed_out = false;
    proxy_header_parser parser;

    bool has_header() const
    {
        return is_trusted && parser.current() == proxy_header_parser::status::complete;
    }
};

// Reads the header and nothing behind it: what the client sent belongs to the session. Returns at
// the end of the connection too, and for an untrusted peer at its first byte.
awaitable<void> read_header(waiting_connection& one)
{
    std::array<char, proxy_header_parser::max_bytes> buffer;
    while (one.parser.current() == proxy_header_parser::status::incomplete) {
        error_code error;
        auto count = one.socket.receive(asio::buffer(buffer), tcp::socket::message_peek, error);
        if (error == asio::error::would_block) {
            std::tie(error) =
                co_await one.socket.async_wait(tcp::socket::wait_read, tuple_awaitable);
            if (error)
                co_return;
            continue;
        }
        if (error)
            co_return;
        count = one.parser.take(std::string_view(buffer.data(), count));
        one.socket.receive(asio::buffer(buffer.data(), count), 0, error);
        if (error || !one.is_trusted)
            co_return;
    }
}

client_address client_of(const waiting_connection& one)
{
    const auto& header = one.parser.header();
    const bool is_announced =
        header.what == proxy_header::kind::tcp4 || header.what == proxy_header::kind::tcp6;
    return client_address(is_announced ? header.client : one.peer, is_announced);
}

std::string_view refusal_of(const waiting_connection& one)
{
    if (!one.is_trusted)
        return "network";
    if (one.parser.current() != proxy_header_parser::status::incomplete)
        return to_text(one.parser.current());
    return one.has_timed_out ? "timeout" : "truncated";
}

} // namespace

struct listener::state : std::enable_shared_from_this<state>
{
    state(runtime::host& runs_on, session_metrics& shown, std::vector<listening_port> served,
          proxy_settings balancers, const mail_ingest::database_watch& watch)
        : host(runs_on),
          metrics(shown),
          ports(std::move(served)),
          proxy(std::move(balancers)),
          database(watch),
          check_timer(runs_on.executor())
    {}

    struct bound_acceptor
    {
        const listening_port& port;
        tcp::acceptor acceptor;
    };

    void bind(const listening_port& port);
    awaitable<void> accept(bound_acceptor& from);
    awaitable<void> serve(std::shared_ptr<session> one);
    awaitable<void> check_deadlines();
    void admit_client(const listening_port& port, tcp::socket socket);
    void admit_balancer(const listening_port& port, tcp::socket socket);
    awaitable<void> await_header(std::shared_ptr<waiting_connection> one);
    void evict_waiting();
    bool remove_waiting(const std::shared_ptr<waiting_connection>& one);
    void welcome(const listening_port& port, tcp::socket socket, client_address peer);
    void stop_accepting();

    runtime::host& host;
    session_metrics& metrics;
    const std::vector<listening_port> ports;
    proxy_settings proxy;
    const mail_ingest::database_watch& database;
    std::list<bound_acceptor> acceptors;
    std::vector<std::shared_ptr<waiting_connection>> waiting; // the oldest first
    std::unordered_set<std::shared_ptr<session>> sessions;
    asio::steady_timer check_timer;
    bool is_stopping = false;
};

void listener::state::bind(const listening_port& port)
{
    for (const auto& address : port.addresses) {
        const tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
        auto& acceptor =
            acceptors.emplace_back(bound_acceptor{port, tcp::acceptor(host.executor())}).acceptor;
        acceptor.open(endpoint.protocol());
        acceptor.set_option(tcp::acceptor::reuse_address(true));
        if (endpoint.protocol() == tcp::v6())
            acceptor.set_option(asio::ip::v6_only(true));
        acceptor.bind(endpoint);
        acceptor.listen(backlog);
        const auto number = std::to_string(acceptor.local_endpoint().port());
        log::info("listening", {{port.name, address.host + ":" + number}});
    }
}

awaitable<void> listener::state::accept(bound_acceptor& from)
{
    const auto self = shared_from_this();
    asio::steady_timer timer(host.executor());
    while (!is_stopping) {
        auto [error, socket] = co_await from.acceptor.async_accept(tuple_awaitable);
        if (is_stopping)
            co_return;
        if (error) {
            // Most likely out of file descriptors: some will be free again.
            log::warning("connection cannot be accepted", {{"error", error.message()}});
            timer.expires_after(accept_retry_delay);
            co_await timer.async_wait(tuple_awaitable);
            continue;
        }
        if (from.port.reads_proxy_header)
            admit_balancer(from.port, std::move(socket));
        else
            admit_client(from.port, std::move(socket));
    }
}

void listener::state::admit_client(const listening_port& port, tcp::socket socket)
{
    error_code error;
    const auto peer = socket.remote_endpoint(error);
    if (error)
        return;
    socket.non_blocking(true, error);
    welcome(port, std::move(socket), peer.address());
}

void listener::state::admit_balancer(const listening_port& port, tcp::socket socket)
{
    error_code error;
    const auto peer = socket.remote_endpoint(error).address();
    if (error)
        return;
    socket.non_blocking(true, error);
    if (waiting.size() >= proxy.max_waiting)
        evict_waiting();
    const auto& one = waiting.emplace_back(std::make_shared<waiting_connection>(
        port, std::move(socket), peer, contains(proxy.networks, peer),
        steady::now() + proxy.header_timeout));
    metrics.set_awaited_headers(waiting.size());
    asio::co_spawn(host.executor(), await_header(one), asio::detached);
}

awaitable<void> listener::state::await_header(std::shared_ptr<waiting_connection> one)
{
    const auto self = shared_from_this();
    co_await read_header(*one);
    // It was evicted, or the listener stops.
    if (!remove_waiting(one))
        co_return;
    if (!one->has_header()) {
        // Whoever said nothing, such as a health check, did nothing wrong.
        if (!one->parser.has_begun())
            co_return;
        const auto reason = refusal_of(*one);
        metrics.header_refused(reason);
        log::warning("PROXY header refused",
                     {{"reason", reason}, {"remote_ip", one->peer.to_string()}});
        co_return;
    }
    metrics.header_accepted(one->parser.header());
    welcome(one->port, std::move(one->socket), client_of(*one));
}

// Strangers first: they cannot keep balancers out.
void listener::state::evict_waiting()
{
    auto victim =
        std::ranges::find(waiting, false, [](const auto& one) { return one->is_trusted; });
    if (victim == waiting.end())
        victim = waiting.begin();
    const auto one = *victim;
    error_code ignored;
    one->socket.close(ignored);
    remove_waiting(one);
    metrics.header_evicted();
}

// False if it was removed before.
bool listener::state::remove_waiting(const std::shared_ptr<waiting_connection>& one)
{
    if (std::erase(waiting, one) == 0)
        return false;
    metrics.set_awaited_headers(waiting.size());
    return true;
}

void listener::state::welcome(const listening_port& port, tcp::socket socket, client_address peer)
{
    auto& context = *port.context;
    error_code error;
    socket.set_option(tcp::no_delay(true), error);
    if (!port.networks.empty() && !contains(port.networks, peer.address)) {
        metrics.turned_away("network");
        return turn_away(port, socket, replies::not_for_network);
    }
    if (database.is_away()) {
        metrics.turned_away("database");
        return turn_away(port, socket, replies::database_away);
    }
    const auto admission = context.client_limiter.enter(peer);
    if (admission != client_limiter::admission::welcome) {
        metrics.turned_away(reason_of(admission));
        return turn_away(port, socket,
                         admission == client_limiter::admission::too_many
                             ? replies::too_many_connections
                             : replies::too_many_from_address);
    }
    auto fresh = std::make_shared<session>(context, port.kind, std::move(socket), std::move(peer));
    sessions.insert(fresh);
    asio::co_spawn(host.executor(), serve(std::move(fresh)), asio::detached);
}

awaitable<void> listener::state::serve(std::shared_ptr<session> one)
{
    const auto self = shared_from_this();
    co_await one->run();
    sessions.erase(one);
}

awaitable<void> listener::state::check_deadlines()
{
    const auto self = shared_from_this();
    while (!is_stopping || !sessions.empty()) {
        check_timer.expires_after(deadline_check_interval);
        co_await check_timer.async_wait(tuple_awaitable);
        const auto now = steady::now();
        for (const auto& one : sessions)
            one->check_deadline(now);
        for (const auto& one : waiting) {
            if (now < one->deadline)
                break;
            one->has_timed_out = true;
            error_code ignored;
            one->socket.cancel(ignored);
        }
    }
}

void listener::state::stop_accepting()
{
    is_stopping = true;
    error_code ignored;
    for (auto& one : acceptors)
        one.acceptor.close(ignored);
    // Their coroutines end on the loop, and use nothing of the context.
    for (const auto& one : waiting)
        one->socket.close(ignored);
    if (!waiting.empty())
        metrics.set_awaited_headers(0);
    waiting.clear();
}

listener::listener(runtime::host& host, session_metrics& metrics, std::vector<listening_port> ports,
                   proxy_settings proxy, const mail_ingest::database_watch& database)
    : state_(std::make_shared<state>(host, metrics, std::move(ports), std::move(proxy), database))
{}

listener::~listener()
{
    state_->stop_accepting();
}

void listener::start()
{
    for (const auto& port : state_->ports)
        state_->bind(port);
    const auto& executor = state_->host.executor();
    for (auto& one : state_->acceptors)
        asio::co_spawn(executor, state_->accept(one), asio::detached);
    asio::co_spawn(executor, state_->check_deadlines(), asio::detached);
}

host_port listener::address(port_kind kind, bool reads_proxy_header) const
{
    const auto found = std::ranges::find_if(state_->acceptors, [&](const auto& one) {
        return one.port.kind == kind && one.port.reads_proxy_header == reads_proxy_header;
    });
    return address_of(found->acceptor);
}

std::size_t listener::sessions() const
{
    return state_->sessions.size();
}

std::size_t listener::waiting() const
{
    return state_->waiting.size();
}

awaitable<void> listener::drain(std::chrono::milliseconds timeout)
{
    const auto self = state_;
    self->stop_accepting();
    for (const auto& one : self->sessions)
        one->shut_down();
    const auto deadline = steady::now() + timeout;
    asio::steady_timer timer(self->host.executor());
    while (!self->sessions.empty() && steady::now() < deadline) {
        timer.expires_after(drain_check_interval);
        co_await timer.async_wait(tuple_awaitable);
    }
    if (!self->sessions.empty())
        log::warning("SMTP sessions aborted at the end of the drain",
                     {{"sessions", self->sessions.size()}});
    for (const auto& one : self->sessions)
        one->abort();
}

} // namespace tempinbox::smtp
