#include "rate-limit/settings.hpp"

namespace tempinbox::rate_limit {

settings read_settings(config::reader& read)
{
    using namespace std::chrono_literals;
    settings chosen;
    chosen.database = postgres::read_settings(read, 4);
    chosen.rpc.listen =
        read.address("rpc-listen", "127.0.0.1:9102", "where the other services call this one");
    chosen.rpc.name = "rpc";
    chosen.rpc.body_limit = 4 * 1024 * 1024;
    chosen.rpc_token_file = read.readable_file(
        "rpc-token-file", "", "file with the shared RPC token; a second line is accepted too");
    if (chosen.rpc_token_file.empty())
        read.add_problem("rpc-token-file", "must be set");
    chosen.rpc_tls = rpc::read_tls_settings(read);
    chosen.rpc_tls_name = read.text(
        "rpc-tls-name", "",
        "DNS name that the certificates of the other replicas have, as they are called by their "
        "address; empty: the host of each one's rpc-advertise");
    if (!chosen.rpc_tls_name.empty() && !chosen.rpc_tls.is_set())
        read.add_problem("rpc-tls-name", "needs rpc-tls-certificate-file");
    chosen.rpc_advertise = read.text(
        "rpc-advertise", "",
        "host:port at which other replicas call this one; empty: where it listens, or this host's "
        "address where that is every address");
    if (!chosen.rpc_advertise.empty() && !host_port::parse(chosen.rpc_advertise))
        read.add_problem("rpc-advertise", "must be host:port");
    chosen.blocks.idle_time = read.duration(
        "idle-time", 10s, 100ms, 1h, "idle time after which an unused block of units is returned");
    chosen.blocks.lease_time = read.duration(
        "lease-time", 30s, 1s, 1h,
        "how long a replica holds a block without renewing it; then the block counts as used");
    chosen.blocks.accounts =
        static_cast<std::size_t>(read.integer("accounts-in-memory", 200'000, 1, 10'000'000,
                                              "maximum accounts whose blocks are held in memory"));
    constexpr std::uint64_t bytes_an_account = 512;
    read.add_memory("accounts-in-memory", chosen.blocks.accounts * bytes_an_account);
    chosen.days_kept =
        static_cast<int>(read.integer("days-kept", 35, 2, 3'650, "days of usage that are stored"));
    return chosen;
}

} // namespace tempinbox::rate_limit
