#pragma once

#include <boost/asio/ip/address.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::smtp {

// What a balancer says of the connection it forwards.
struct proxy_header
{
    enum class kind {
        tcp4,   // `client` is an IPv4 address
        tcp6,   // `client` is an IPv6 address
        local,  // the balancer's own connection, such as a health check
        unknown // UNKNOWN or UNSPEC: the balancer cannot say who the client is
    };

    int version = 1;
    kind what = kind::unknown;
    boost::asio::ip::address client; // of tcp4 and tcp6 only
};

// Reads the header that a balancer writes ahead of the client's bytes, as it comes ("The PROXY
// protocol, versions 1 & 2", haproxy.org/download/2.6/doc/proxy-protocol.txt). Pure: bytes in, a
// header or the reason of its refusal out. Never throws for what it is given, and holds at most
// `max_bytes` of it. TLVs are skipped: nothing here needs them.
class proxy_header_parser
{
public:
    // Section 2.1: no version 1 header is longer, CRLF included.
    static constexpr std::size_t max_v1_bytes = 107;
    // Section 2.2: what every network carries in one piece. With TLVs a version 2 header could
    // have 65,551 bytes; balancers send fewer than 200.
    static constexpr std::size_t max_bytes = 536;

    enum class status {
        incomplete,
        complete,
        malformed,   // no PROXY header, or one that breaks the grammar
        too_long,    // longer than its version's limit
        unsupported, // well-formed, but of UDP or a Unix socket
    };

    // Takes what came next and returns how many of these bytes belong to the header: the bytes
    // behind its end are the client's. Takes nothing once the status is not `incomplete`.
    std::size_t take(std::string_view bytes);

    status current() const { return status_; }
    // Some byte came.
    bool has_begun() const { return !received_.empty(); }
    // Valid when complete.
    const proxy_header& header() const { return header_; }

private:
    status judge();
    status judge_v2();
    status read_v1();
    status read_v2();

    std::string received_;
    std::size_t v2_bytes_ = 0; // of the whole header, once its length has come
    status status_ = status::incomplete;
    proxy_header header_;
};

// "tcp4", as the label of a metric.
std::string_view to_text(proxy_header::kind kind);
// "too_long", as the label of a metric.
std::string_view to_text(proxy_header_parser::status status);

} // namespace tempinbox::smtp
