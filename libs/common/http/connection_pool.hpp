#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/transport.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <list>
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

struct pool_limits
{
    std::size_t per_host = 64; // connections, idle or not
    std::size_t idle = 1'000;  // connections of all hosts together; the longest idle one is closed
    std::size_t sessions = 4'000;
    std::chrono::milliseconds idle_timeout{30'000};
    std::chrono::milliseconds max_age{0}; // an older connection is not kept; 0: any age
};

// The connections of a client, a bounded number for each host. A caller acquires a
// pooled_connection first: the right to one connection, idle or to be dialled. Callers past the
// bound wait in line. All on one loop.
class connection_pool : public std::enable_shared_from_this<connection_pool>
{
public:
    using clock = std::chrono::steady_clock;

    connection_pool(boost::asio::io_context& loop, pool_limits limits);

    struct host_entry;
    struct waiter;
    struct idle_connection
    {
        std::unique_ptr<transport> wire;
        clock::time_point since;
        host_entry* host = nullptr;
    };
    using idle_list = std::list<idle_connection>; // the longest idle first

    // One (pool, scheme, host, port): its idle connections, in the order of the list, and the TLS
    // sessions it gave us.
    struct host_entry
    {
        std::deque<idle_list::iterator> idle;
        std::deque<std::shared_ptr<waiter>> waiting;
        std::vector<tls_session> sessions;
        std::size_t in_use = 0;
        clock::time_point last_used{};
    };

    class pooled_connection
    {
    public:
        pooled_connection(std::shared_ptr<connection_pool> pool, std::shared_ptr<host_entry> entry);
        ~pooled_connection();
        pooled_connection(pooled_connection&& other) noexcept = default;
        pooled_connection& operator=(pooled_connection&&) = delete;

        // The most recently used idle connection that is still alive, if any.
        std::unique_ptr<transport> take_idle();
        // When one connection has died, the other idle ones are likely dead too.
        void discard_idle();
        void keep(std::unique_ptr<transport> open);

        // TLS sessions are used once (RFC 8446 C.4).
        tls_session take_session();
        void discard_sessions();
        // Keeps the sessions that arrive over this connection for later ones.
        void collect_sessions(SSL* connection);

    private:
        std::shared_ptr<connection_pool> pool_;
        std::shared_ptr<host_entry> entry_;
    };

    // nullopt if the deadline comes first.
    awaitable<std::optional<pooled_connection>> acquire(std::string host,
                                                        clock::time_point deadline);
    // Closes the idle connections.
    void close();
    void discard_sessions();

    // OpenSSL's callback for new sessions; for the client's context.
    static int on_new_session(SSL* connection, SSL_SESSION* fresh);

private:
    void release(host_entry& entry);
    void keep(host_entry& entry, std::unique_ptr<transport> open);
    void close_idle(host_entry& entry);
    void close_longest_idle();
    void sweep_later();
    void sweep();
    void evict_surplus_sessions();

    boost::asio::steady_timer sweep_timer_;
    bool is_sweeping_ = false;
    pool_limits limits_;
    std::map<std::string, std::shared_ptr<host_entry>> hosts_;
    idle_list idle_;
};

} // namespace tempinbox::http
