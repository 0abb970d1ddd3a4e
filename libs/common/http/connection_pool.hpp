#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/transport.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::http {

struct session_deleter
{
    void operator()(SSL_SESSION* kept) const;
};
using tls_session = std::unique_ptr<SSL_SESSION, session_deleter>;

// Kept connections of a client, a bounded number a host. Whoever wants one takes a lease first: the right to one connection, idle
// or to be dialled. Leases past the bound wait in line. All on one loop.
class connection_pool : public std::enable_shared_from_this<connection_pool>
{
public:
    using clock = std::chrono::steady_clock;

    connection_pool(boost::asio::io_context& loop, std::size_t most_per_host, std::chrono::milliseconds idle_timeout);

    struct kept_connection;
    struct waiter;

    // One (scheme, host, port): its idle connections and the TLS sessions it gave us.
    struct host_entry
    {
        std::vector<kept_connection> idle;
        std::deque<std::shared_ptr<waiter>> waiting;
        std::vector<tls_session> sessions;
        std::size_t leased = 0;
        clock::time_point last_used{};
    };

    class lease
    {
    public:
        lease(std::shared_ptr<connection_pool> pool, std::shared_ptr<host_entry> entry);
        ~lease();
        lease(lease&& other) noexcept = default;
        lease& operator=(lease&&) = delete;

        // The idle connection used last, if one is still alive.
        std::unique_ptr<transport> take_idle();
        // One that died is rarely alone.
        void forget_idle();
        void keep(std::unique_ptr<transport> open);

        // TLS sessions are used once (RFC 8446 C.4).
        tls_session take_session();
        void forget_sessions();
        // Sessions that come over this connection are kept for later ones.
        void collect_sessions(SSL* connection);

    private:
        std::shared_ptr<connection_pool> pool_;
        std::shared_ptr<host_entry> entry_;
    };

    // Nothing when the deadline came first.
    awaitable<std::optional<lease>> acquire(std::string host, clock::time_point deadline);
    // Closes what is idle.
    void close();

    // OpenSSL's callback for new sessions; for the client's context.
    static int on_new_session(SSL* connection, SSL_SESSION* fresh);

private:
    void release(host_entry& entry);
    void sweep_later();
    void sweep();

    boost::asio::steady_timer sweep_timer_;
    bool is_sweeping_ = false;
    std::size_t most_per_host_;
    std::chrono::milliseconds idle_timeout_;
    std::map<std::string, std::shared_ptr<host_entry>> hosts_;
};

} // namespace tempinbox::http
