#pragma once

#include "common/core/awaitable.hpp"
#include "mail-ingest/ingest/database_watch.hpp"
#include "mail-ingest/smtp/proxy_settings.hpp"
#include "mail-ingest/smtp/session.hpp"

#include <string>
#include <vector>

namespace tempinbox::smtp {

// One setting's addresses.
struct listening_port
{
    std::string name; // in logs
    port_kind kind = port_kind::mail;
    session_context* context = nullptr; // outlives the listener
    std::vector<host_port> addresses;
    bool reads_proxy_header = false; // it is for balancers
    // Whose clients it serves, others are turned away; empty: everybody's.
    std::vector<network> networks;
};

// The SMTP ports: accepts or turns away connections, enforces the sessions' deadlines, and drains.
// On a port for balancers a session begins once its PROXY header has come; the client is the one
// that the header announces. There a connection that says nothing is closed without a trace, since
// health checks connect like that.
class listener
{
public:
    // A client is greeted only if `database` is not away.
    listener(runtime::host& host, session_metrics& metrics, std::vector<listening_port> ports,
             proxy_settings proxy, const mail_ingest::database_watch& database);
    ~listener();
    listener(const listener&) = delete;

    // Binds and accepts; throws when an address cannot be bound.
    void start();
    // Where a port listens, by its kind: that for clients or that for balancers.
    host_port address(port_kind kind, bool reads_proxy_header = false) const;
    host_port local_address() const { return address(port_kind::mail); }
    host_port proxy_address() const { return address(port_kind::mail, true); }
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
