#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/http/message.hpp"
#include "common/runtime/host.hpp"
#include "common/tls/context_source.hpp"

#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::http {

// How one exchange may fail, apart from its status.
enum class exchange_error {
    none,
    resolve,
    refused_address,
    connect,
    tls,
    timeout,
    closed,
    malformed,
    too_large
};
std::string_view to_string(exchange_error error);

// Resolves a host name to addresses; the default asks the system. A boost::system::system_error
// that it throws becomes the error `resolve` with its code.
using resolver =
    std::function<awaitable<std::vector<boost::asio::ip::address>>(const std::string& host)>;

struct client_settings
{
    std::chrono::milliseconds connect_timeout{3'000};
    std::chrono::milliseconds tls_timeout{5'000};
    std::chrono::milliseconds idle_timeout{30'000}; // of idle connections
    // An older connection is closed rather than kept, so that an address that stands for many
    // servers spreads over them; 0: any age.
    std::chrono::milliseconds connection_max_age{0};
    std::size_t connections_per_host = 64; // of each pool
    std::size_t idle_connections = 1'000;  // in all pools; the longest idle one is closed first
    std::uint32_t header_limit = 16 * 1024;
    std::uint64_t body_limit = 16 * 1024 * 1024; // past it: too_large, the part read so far is kept
    bool verify_certificates = true;
    std::string ca_file; // empty: the system's
    // What each new TLS connection is made with, a client's certificate perhaps; empty: a context
    // of the client's own, which trusts `ca_file`.
    tls::context_source tls;
    resolver resolve; // empty: the system's
    // Checks each address before it is dialled; if any resolved address is refused, the exchange
    // fails with refused_address. Empty: all are allowed.
    std::function<bool(const boost::asio::ip::address&)> allow_address;
    // Called after each TLS handshake that succeeded.
    std::function<void(bool is_resumed)> on_handshake;
};

struct client_response;

struct client_request
{
    std::string method = "GET";
    std::string url;     // http://host:port/path?query or https://…
    header_list headers; // Host, Content-Length, User-Agent are added where absent
    std::string body;
    std::string tls_name; // the host that the certificate must be for; empty: the URL's
    std::string
        pool; // connections and TLS sessions are used again only by requests of the same pool
    std::chrono::milliseconds deadline{15'000}; // whole exchange, body included
    // May be sent again if an idle connection that took it dies before any response byte: nobody
    // knows then whether the peer had closed it before, or died while it acted on the request.
    bool may_repeat = true;
    // Called on the loop with the response so far, once its header is complete and each time more
    // of its body has come, but not for its end.
    std::function<void(const client_response&)> on_progress;
};

struct client_response
{
    exchange_error error = exchange_error::none;
    std::string error_text;          // for people; empty without an error
    boost::system::error_code cause; // from the system or the resolver, if any
    bool is_sent = false; // it was written to a connection: the peer may have acted on it
    unsigned status = 0;  // 0: no status line came
    header_list headers;
    std::string body;
    std::chrono::milliseconds took{0};

    std::optional<std::string_view> header(std::string_view name) const
    {
        return find_header(headers, name);
    }
};

// Sends a request as `client` does, over connections or, in tests, in the process.
using sender = std::function<awaitable<client_response>(client_request)>;

// HTTP/1.1 with keep-alive connections per (pool, scheme, host, port); no redirects, no
// compression. Never throws for network errors. An idle connection that dies before any response
// byte is replaced once, if the request may be repeated. Runs on the loop; destroy only when no
// exchange is in progress.
class client
{
public:
    client(boost::asio::io_context& loop, client_settings settings);
    // On the host's loop; counts the TLS handshakes in its metrics.
    client(runtime::host& host, client_settings settings);
    ~client();
    client(const client&) = delete;

    awaitable<client_response> send(client_request outgoing);

    // Reads `ca_file` again, for connections made from now on. Throws std::runtime_error if it
    // cannot be used; then nothing has changed.
    void reload_trust();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace tempinbox::http
