#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/http/message.hpp"
#include "common/runtime/host.hpp"
#include "common/tls/context_source.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::http {

// Whose requests a server has spans for (docs/operations/tracing.md).
enum class trace_mode {
    off,
    edge,    // of all: a trace begins here, or goes on where a trusted peer sent `traceparent`
    internal // of those that bring a `traceparent`, which is the parent: calls between services
};

// Limits of a server. Certificate and key files, if set, enable TLS (1.2+) and are re-read when
// they change.
struct server_settings
{
    host_port listen{"127.0.0.1", 0};
    std::uint32_t header_limit = 16 * 1024;
    std::uint64_t body_limit = 64 * 1024;
    std::chrono::milliseconds header_timeout{
        10'000}; // from the first byte of a request to the end of its header
    // A body may take this long, and longer as far as it comes at the rate: 408 past it.
    std::chrono::milliseconds body_timeout{5'000};
    std::uint64_t min_body_bytes_per_second = 4 * 1024;
    std::chrono::milliseconds idle_timeout{75'000}; // between requests
    std::chrono::milliseconds write_timeout{30'000};
    std::size_t connection_limit = 10'000;
    // Limit for one IPv4 address or IPv6 /64, 3 times as many for a /56 and 6 times for a /48;
    // networks in `uncounted` are exempt; 0: any number.
    std::size_t connections_per_address = 0;
    std::vector<network> uncounted;
    std::string certificate_file;
    std::string key_file;
    // In place of the files: what each new connection is made with, such as the mutual TLS between
    // services. Failed handshakes are logged, since all clients are the operator's own.
    tls::context_source tls;
    std::string name = "http"; // label of metrics and log lines
    trace_mode tracing = trace_mode::off;
    // At the edge: the peers whose `traceparent` is the parent. Others' is a link, and the sampler
    // decides.
    std::vector<network> trace_parents;
    bool logs_access = true;
    // Sent on an idle connection that a draining server is about to close, as GOAWAY of RFC 9113
    // 6.8: to a request that crosses it, which the server does not begin, it is the response. For
    // clients that know it; absent: the connection is just closed.
    std::optional<response> goaway;
};

// Callbacks of a server to its owner besides the handler. Each may be empty; they must not throw.
struct server_hooks
{
    // Called once the header is read, before the body is: a response ends the request there, and
    // closes the connection unless nothing of the request is left to read. Also called for a
    // complete request without a body. It may change the request for the handler.
    std::function<std::optional<response>(request&)> judge_header;
    // May add to the responses that the server makes itself: 400, 408, 431, 500, 501 and 503. The
    // request holds as much as could be read, perhaps nothing.
    std::function<void(const request&, response&)> complete_own_response;
};

// An HTTP/1.1 server on Beast. Requests of a connection are handled in order. A body past the limit
// reaches the handler as an empty body with `body_too_large` set. Malformed requests get 400,
// header overflow 431, a timeout 408, then the connection closes. A full server evicts a connection
// to make room for a new one, the longest in its phase, in this order: one that was refused and has
// yet to close, one that is sending its header, one that has been sending its body for over a
// second, a TLS handshake that takes over a second, an idle one if idle ones exceed a tenth of the
// limit, a TLS handshake, one that is sending its body. If there is none to evict, the new one gets
// 503.
class server
{
public:
    server(runtime::host& host, server_settings settings, handler handle, server_hooks hooks = {});
    ~server();
    server(const server&) = delete;

    // Binds and accepts; throws when the address cannot be bound.
    void start();
    host_port local_address() const;
    std::size_t connections() const;
    // Stops accepting, responds to requests in progress with `Connection: close`, closes idle
    // connections; returns when all are closed or the time is up.
    awaitable<void> drain(std::chrono::milliseconds timeout);
    void stop();

private:
    struct state;
    std::shared_ptr<state> state_;
    runtime::file_watch::subscription certificate_; // of `certificate_file`
};

} // namespace tempinbox::http
