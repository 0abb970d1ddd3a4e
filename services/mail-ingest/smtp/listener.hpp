#pragma once

#include "common/core/awaitable.hpp"
#include "mail-ingest/ingest/database_watch.hpp"
#include "mail-ingest/smtp/proxy_settings.hpp"
#include "mail-ingest/smtp/session.hpp"

#include <list>
#include <vector>

namespace tempinbox::smtp {

// The SMTP ports: accepts or turns away connections, enforces the sessions' deadlines, and drains.
// On the port for balancers a session begins once its PROXY header has come; the client is the one
// that the header announces. There a connection that says nothing is closed without a trace, since
// health checks connect like that.
class listener
{
public:
    // A client is greeted only if `database` is not away.
    listener(session_context& context, std::vector<host_port> addresses, proxy_settings proxy,
             const mail_ingest::database_watch& database);
    ~listener();
    listener(const listener&) = delete;

    // Binds and accepts; throws when an address cannot be bound.
    void start();
    host_port local_address() const;
    // The port for balancers, where there is one.
    host_port proxy_address() const;
    std::size_t sessions() const;
    // Connections whose PROXY header has not come yet.
    std::size_t waiting() const;
    // Stops accepting, ends idle sessions and lets messages finish. At the timeout it aborts the
    // sessions that are left.
    awaitable<void> drain(std::chrono::milliseconds timeout);

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::smtp
