#include "mail-ingest/smtp/listener.hpp"

#include "common/log/log.hpp"
#include "mail-ingest/smtp/replies.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unordered_set>

namespace tempinbox::smtp {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);
constexpr int backlog = 4'096;
constexpr std::chrono::milliseconds deadline_check_interval{500};
constexpr std::chrono::milliseconds accept_retry_delay{100};
constexpr std::chrono::milliseconds drain_check_interval{20};

std::string_view reason_of(client_limiter::admission admission)
{
    return admission == client_limiter::admission::too_many ? "all" : "address";
}

// Best effort: the client gets one line if it fits the socket's send buffer.
void turn_away(tcp::socket& socket, std::string_view reply)
{
    error_code ignored;
    const auto line = std::string(reply) + "\r\n";
    socket.write_some(asio::buffer(line), ignored);
    socket.shutdown(tcp::socket::shutdown_both, ignored);
}

} // namespace

struct listener::state : std::enable_shared_from_this<state>
{
    state(session_context& shared, std::vector<host_port> where,
          const mail_ingest::database_watch& watch)
        : context(shared),
          addresses(std::move(where)),
          database(watch),
          check_timer(shared.host.executor())
    {}

    void bind();
    awaitable<void> accept(tcp::acceptor& acceptor);
    awaitable<void> serve(std::shared_ptr<session> one);
    awaitable<void> check_deadlines();
    void welcome(tcp::socket socket);
    void stop_accepting();

    session_context& context;
    std::vector<host_port> addresses;
    const mail_ingest::database_watch& database;
    std::list<tcp::acceptor> acceptors;
    std::unordered_set<std::shared_ptr<session>> sessions;
    asio::steady_timer check_timer;
    bool is_stopping = false;
};

void listener::state::bind()
{
    for (const auto& address : addresses) {
        const tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
        auto& acceptor = acceptors.emplace_back(context.host.executor());
        acceptor.open(endpoint.protocol());
        acceptor.set_option(tcp::acceptor::reuse_address(true));
        if (endpoint.protocol() == tcp::v6())
            acceptor.set_option(asio::ip::v6_only(true));
        acceptor.bind(endpoint);
        acceptor.listen(backlog);
        log::info("listening", {{"smtp", address.host + ":" +
                                             std::to_string(acceptor.local_endpoint().port())}});
    }
}

awaitable<void> listener::state::accept(tcp::acceptor& acceptor)
{
    const auto self = shared_from_this();
    asio::steady_timer timer(context.host.executor());
    while (!is_stopping) {
        auto [error, socket] = co_await acceptor.async_accept(tuple_awaitable);
        if (is_stopping)
            co_return;
        if (error) {
            // Most likely out of file descriptors: some will be free again.
            log::warning("connection cannot be accepted", {{"error", error.message()}});
            timer.expires_after(accept_retry_delay);
            co_await timer.async_wait(tuple_awaitable);
            continue;
        }
        welcome(std::move(socket));
    }
}

void listener::state::welcome(tcp::socket socket)
{
    error_code error;
    const auto peer = socket.remote_endpoint(error);
    if (error)
        return;
    socket.non_blocking(true, error);
    socket.set_option(tcp::no_delay(true), error);
    if (database.is_away()) {
        context.metrics.turned_away("database");
        return turn_away(socket, replies::database_away);
    }
    const auto admission = context.client_limiter.enter(peer.address());
    if (admission != client_limiter::admission::welcome) {
        context.metrics.turned_away(reason_of(admission));
        return turn_away(socket, admission == client_limiter::admission::too_many
                                     ? replies::too_many_connections
                                     : replies::too_many_from_address);
    }
    auto fresh = std::make_shared<session>(context, std::move(socket), peer);
    sessions.insert(fresh);
    asio::co_spawn(context.host.executor(), serve(std::move(fresh)), asio::detached);
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
        const auto now = std::chrono::steady_clock::now();
        for (const auto& one : sessions)
            one->check_deadline(now);
    }
}

void listener::state::stop_accepting()
{
    is_stopping = true;
    error_code ignored;
    for (auto& acceptor : acceptors)
        acceptor.close(ignored);
}

listener::listener(session_context& context, std::vector<host_port> addresses,
                   const mail_ingest::database_watch& database)
    : state_(std::make_shared<state>(context, std::move(addresses), database))
{}

listener::~listener()
{
    state_->stop_accepting();
}

void listener::start()
{
    state_->bind();
    const auto& executor = state_->context.host.executor();
    for (auto& acceptor : state_->acceptors)
        asio::co_spawn(executor, state_->accept(acceptor), asio::detached);
    asio::co_spawn(executor, state_->check_deadlines(), asio::detached);
}

host_port listener::local_address() const
{
    const auto endpoint = state_->acceptors.front().local_endpoint();
    return host_port(endpoint.address().to_string(), endpoint.port());
}

std::size_t listener::sessions() const
{
    return state_->sessions.size();
}

awaitable<void> listener::drain(std::chrono::milliseconds timeout)
{
    const auto self = state_;
    self->stop_accepting();
    for (const auto& one : self->sessions)
        one->shut_down();
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    asio::steady_timer timer(self->context.host.executor());
    while (!self->sessions.empty() && std::chrono::steady_clock::now() < deadline) {
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
