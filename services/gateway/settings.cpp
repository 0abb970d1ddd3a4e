#include "gateway/settings.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "gateway/access/password_hasher.hpp"
#include "gateway/site/base_path.hpp"
#include "gateway/site/dashboard_assets.hpp"
#include "gateway/site/downloads.hpp"

#include "accounts/idempotency_repository.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tempinbox::gateway {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
// Memory of a waiting connection, measured and rounded up.
constexpr std::uint64_t bytes_a_connection = 16 * kib;

http::server_settings read_api_settings(config::reader& reader)
{
    http::server_settings api;
    api.name = "api";
    api.listen = reader.address("listen", "127.0.0.1:8080",
                                "Where the API is served; 0.0.0.0 in a container");
    api.certificate_file = reader.readable_file(
        "tls-certificate-file", "",
        "Certificate chain (PEM) to serve the API over TLS; re-read when it changes");
    api.key_file = reader.readable_file("tls-key-file", "", "Private key (PEM) of the certificate");
    if (api.certificate_file.empty() != api.key_file.empty())
        reader.add_problem("tls-certificate-file", "must be set together with tls-key-file");
    api.connection_limit = static_cast<std::size_t>(
        reader.integer("connection-limit", 10'000, 1, 1'000'000,
                       "Maximum open connections; to accept further ones, idle connections and "
                       "those with a slow header or body are closed, else the new ones are "
                       "answered 503"));
    api.min_body_bytes_per_second = static_cast<std::uint64_t>(reader.integer(
        "body-min-rate", 4'096, 1, 1'048'576,
        "Minimum bytes a second of a request's body after its first 5 s; a slower one is answered "
        "408"));
    api.connections_per_address = static_cast<std::size_t>(reader.integer(
        "connections-per-address", 1'000, 0, 1'000'000,
        "Maximum open connections from one IPv4 address or IPv6 /64, 3 times as many from a /56, 6 "
        "times from a /48; trusted-proxies are exempt; 0: unlimited"));
    api.uncounted =
        reader.networks("exempt-networks", "",
                        "Networks exempt from connections-per-address, CIDR, comma-separated");
    return api;
}

constexpr std::size_t max_capture_ports = 8;
constexpr std::size_t max_host_length = 253;

// A host as mail clients are told it: a name or an IPv4 address.
bool is_host(std::string_view text)
{
    return text.size() <= max_host_length && std::all_of(text.begin(), text.end(), [](char c) {
               return is_letter_or_digit(c) || c == '.' || c == '-';
           });
}

// 25 is none, since networks of clients block it.
std::optional<std::uint16_t> parse_port(std::string_view text)
{
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size() || port == 0 || port == 25)
        return std::nullopt;
    return port;
}

std::vector<std::uint16_t> read_ports(config::reader& reader, const char* name, const char* help)
{
    std::vector<std::uint16_t> ports;
    for (const auto& text : reader.list(name, "", help)) {
        const auto port = parse_port(text);
        if (!port) {
            reader.add_problem(name, "must be ports from 1 to 65535, and not 25, which networks "
                                     "block: " +
                                         quote(text));
            return {};
        }
        ports.push_back(*port);
    }
    if (ports.size() > max_capture_ports)
        reader.add_problem(name, "must be at most " + std::to_string(max_capture_ports) + " ports");
    return ports;
}

capture_server read_capture_server(config::reader& reader)
{
    capture_server server;
    server.host = reader.text("capture-host", "",
                              "Host to which mail to captures is sent, as their users see it; "
                              "empty: none can be made");
    server.starttls_ports =
        read_ports(reader, "capture-starttls-ports",
                   "Ports of capture-host with STARTTLS, such as 587,2525, comma-separated");
    server.tls_ports =
        read_ports(reader, "capture-tls-ports",
                   "Ports of capture-host with TLS from the first byte, such as 465, "
                   "comma-separated");
    server.clear_ports =
        read_ports(reader, "capture-clear-ports",
                   "Ports of capture-host without TLS, for tests alone, comma-separated");
    if (!is_host(server.host))
        reader.add_problem("capture-host",
                           "must be a host without port, not " + quote(server.host));
    if (server.has_ports() == server.host.empty())
        reader.add_problem("capture-host", "must be set together with capture-starttls-ports, "
                                           "capture-tls-ports or capture-clear-ports");
    return server;
}

std::string read_base_path(config::reader& reader)
{
    const auto given =
        reader.text("base-path", "",
                    "Path below which a proxy publishes the gateway, such as /some/path of "
                    "https://host/some/path; empty: the root of its host");
    auto parsed = parse_base_path(given);
    if (!parsed)
        reader.add_problem("base-path", parsed.error().message);
    return parsed ? std::move(*parsed) : std::string();
}

// Links in mail have to lead to the dashboard.
bool is_below(std::string_view url, const std::string& base_path)
{
    const auto host = url.find("://");
    const auto path = host == std::string_view::npos ? host : url.find('/', host + 3);
    return path != std::string_view::npos && url.substr(path).starts_with(base_path + "/");
}

std::size_t count(config::reader& reader, const char* name, std::int64_t standard, std::int64_t min,
                  std::int64_t max, const char* help)
{
    return static_cast<std::size_t>(reader.integer(name, standard, min, max, help));
}

// Long polls leave a tenth of the connections to other requests.
long_poll_limits read_wait_bounds(config::reader& reader, std::size_t connection_limit)
{
    long_poll_limits bounds(connection_limit - connection_limit / 10);
    bounds.of_account = count(reader, "waits-per-account", 0, 0, 1'000'000,
                              "Maximum concurrent long polls of one account; 0: a tenth of the "
                              "maximum of all accounts, which is nine tenths of connection-limit");
    if (bounds.of_account == 0)
        bounds.of_account = std::max<std::size_t>(1, bounds.in_all / 10);
    bounds.for_each_of_burst =
        count(reader, "waits-per-burst", 10, 1, 10'000,
              "Maximum concurrent long polls of one account as a multiple of its plan's burst/s, "
              "where that is less than waits-per-account");
    bounds.of_sessions = count(reader, "waits-per-account-sessions", 8, 1, 1'000'000,
                               "Maximum concurrent long polls of one account through its sessions");
    return bounds;
}

} // namespace

settings read_settings(config::reader& reader)
{
    settings chosen;
    chosen.api = read_api_settings(reader);
    chosen.database = postgres::read_settings(reader);
    chosen.kafka = kafka::read_settings(reader);
    chosen.rpc_token_file = reader.readable_file(
        "rpc-token-file", "",
        "Shared token of the internal calls, one or two lines; the first is sent");
    if (chosen.rpc_token_file.empty())
        reader.add_problem("rpc-token-file", "must be set");
    chosen.rpc_tls = rpc::read_tls_settings(reader);
    chosen.inbox_rpc = reader.addresses(
        "inbox-rpc", "127.0.0.1:9101", "Replicas of the inbox service, host:port, comma-separated");
    chosen.rate_limit_rpc =
        reader.addresses("rate-limit-rpc", "127.0.0.1:9102",
                         "Replicas of the rate-limit service, host:port, comma-separated");
    chosen.webhook_dispatcher_rpc =
        reader.addresses("webhook-dispatcher-rpc", "127.0.0.1:9103",
                         "Replicas of the webhook dispatcher, host:port, comma-separated");
    chosen.trusted_proxies = reader.networks(
        "trusted-proxies", "",
        "Proxies whose X-Forwarded-For and traceparent are trusted, CIDR, comma-separated");
    // All clients behind a proxy share its address.
    chosen.api.uncounted.insert(chosen.api.uncounted.end(), chosen.trusted_proxies.begin(),
                                chosen.trusted_proxies.end());
    chosen.api.tracing = http::trace_mode::edge;
    chosen.api.trace_parents = chosen.trusted_proxies;
    chosen.master_keys =
        runtime::read_master_key_settings(reader, "the responses stored for Idempotency-Key");
    chosen.list_cache_bytes = static_cast<std::size_t>(reader.integer(
                                  "list-cache-mib", 64, 0, 65'536,
                                  "Memory of the LRU cache for lists of emails, served from it "
                                  "while their inbox is unchanged; 0: no cache"))
                              << 20;
    chosen.response_bytes = static_cast<std::size_t>(
        reader.bytes("answer-memory", 512 * mib, mib, 1024 * 1024 * mib,
                     "Memory for large responses being sent to clients, at most a quarter of it "
                     "for one account; past it 503"));
    reader.add_memory("connection-limit", chosen.api.connection_limit * bytes_a_connection);
    reader.add_memory("list-cache-mib", chosen.list_cache_bytes);
    reader.add_memory("answer-memory", chosen.response_bytes);
    reader.add_memory("passwords being checked",
                      password_hasher::threads * crypto::password_cost().memory);
    chosen.captures = read_capture_server(reader);
    chosen.base_path = read_base_path(reader);
    chosen.relay = read_relay_settings(reader);
    if (chosen.relay.is_set() && !chosen.base_path.empty() &&
        !is_below(chosen.relay.dashboard_url, chosen.base_path))
        reader.add_problem("dashboard-url", "must be below base-path: https://host" +
                                                chosen.base_path + "/dashboard");
    chosen.dashboard_files = reader.text(
        "dashboard-files", "",
        "Directory of the built dashboard; empty: the directory `dashboard` beside the program");
    if (chosen.dashboard_files.empty())
        chosen.dashboard_files = default_dashboard_folder();
    chosen.download_files =
        reader.text("download-files", "",
                    "Directory of the clients offered below /downloads; empty: the directory "
                    "`downloads` beside the program");
    if (chosen.download_files.empty())
        chosen.download_files = default_download_folder();
    const auto who = reader.choice("signup", "closed", {"open", "closed"},
                                   "Whether anybody may create an account on the dashboard");
    chosen.who_signs_up = who == "open" ? sign_up::open : sign_up::closed;
    chosen.waits = read_wait_bounds(reader, chosen.api.connection_limit);
    chosen.session_requests_a_day =
        reader.integer("session-requests-per-day", 20'000, 0, 1'000'000'000,
                       "Maximum requests through the sessions of one account in a UTC day, on all "
                       "replicas together; 0: unlimited");
    chosen.stored_keys_a_day =
        reader.integer("idempotency-keys-per-day", 10'000, 0, 1'000'000'000,
                       "Maximum Idempotency-Keys of one account stored in 24 hours, on all "
                       "replicas together; past it new ones are answered 429; 0: unlimited");
    chosen.idempotency_ttl = reader.duration(
        "idempotency-ttl", accounts::idempotency_repository::standard_ttl, std::chrono::seconds(1),
        accounts::idempotency_repository::standard_ttl,
        "How long an Idempotency-Key and its response are stored; longer than clients repeat a "
        "request");
    return chosen;
}

} // namespace tempinbox::gateway
