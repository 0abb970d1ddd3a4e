#include "mail-ingest/settings.hpp"

#include "mime/settings.hpp"

#include <filesystem>

namespace tempinbox::mail_ingest {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t max_value = 1'000'000'000;
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;
// A message must fit into one response between services (rpc::client: 64 MiB).
constexpr std::uint64_t max_message_bytes = 60 * mib;

std::size_t count(config::reader& reader, std::string_view name, std::int64_t fallback,
                  std::int64_t min_value, std::string_view meaning)
{
    return static_cast<std::size_t>(reader.integer(name, fallback, min_value, max_value, meaning));
}

smtp::limits read_session_limits(config::reader& reader)
{
    smtp::limits chosen;
    chosen.hostname =
        reader.text("hostname", "localhost",
                    "Host name of this server in SMTP greetings; the one in the MX record");
    chosen.message_bytes =
        reader.bytes("message-max-bytes", 25 * mib, kib, max_message_bytes,
                     "Maximum message size, announced in EHLO (SIZE); a plan may allow less");
    chosen.recipients =
        static_cast<int>(count(reader, "recipients-per-message", 100, 1,
                               "Maximum recipients of one message (RFC 5321: at least 100)"));
    chosen.messages = static_cast<int>(count(reader, "messages-per-connection", 1'000, 0,
                                             "Maximum messages of one connection; 0: unlimited"));
    chosen.idle =
        reader.duration("idle-timeout", 300s, 1s, 24h, "Idle time after which a session is closed");
    chosen.idle_when_busy =
        reader.duration("busy-idle-timeout", 60s, 1s, 24h,
                        "The same timeout while three quarters of the connections are used");
    chosen.session =
        reader.duration("session-timeout", 20min, 0s, 24h,
                        "Maximum duration of a session, and of one message in it; 0: unlimited");
    chosen.min_bytes_per_second = static_cast<std::uint64_t>(
        reader.integer("message-min-rate", 500, 0, max_value,
                       "Minimum bytes per second of a message, averaged over a minute; a slower "
                       "one is aborted; 0: aborted only if nothing arrives"));
    chosen.errors_before_delay = static_cast<int>(
        count(reader, "errors-before-delay", 10, 0,
              "From this error of a session on, each error reply is delayed by 1 s; 0: never"));
    chosen.errors_before_close = static_cast<int>(
        count(reader, "errors-before-close", 20, 0, "This error closes the session; 0: never"));
    chosen.unknown_before_delay =
        static_cast<int>(count(reader, "unknown-recipients-before-delay", 5, 0,
                               "From this unknown recipient of a session on, the reply to each is "
                               "delayed by 2 s; 0: never"));
    chosen.unknown_before_close =
        static_cast<int>(count(reader, "unknown-recipients-before-close", 10, 0,
                               "This unknown recipient closes the session; 0: never"));
    chosen.refused_before_delay =
        static_cast<int>(count(reader, "refused-recipients-before-delay", 100, 0,
                               "From this refused recipient of a session on, for whatever reason, "
                               "the reply to each is delayed by 1 s; 0: never"));
    chosen.takes_bare_newlines =
        reader.choice("bare-newlines", "refuse", {"refuse", "normalize"},
                      "Messages with a bare CR or LF: `refuse` answers 550, `normalize` stores "
                      "them as received and parses them with CRLF") == "normalize";
    return chosen;
}

smtp::client_limits read_client_limits(config::reader& reader)
{
    smtp::client_limits chosen;
    chosen.connections =
        count(reader, "connections", 8'192, 0, "Maximum open connections; 0: unlimited");
    chosen.connections_per_address =
        count(reader, "connections-per-address", 20, 0,
              "Maximum open connections from one IPv4 address or IPv6 /64, 3 times as many from a "
              "/56, 6 times from a /48; 0: unlimited");
    chosen.connections_per_large_sender =
        count(reader, "connections-per-large-sender", 200, 0,
              "Maximum open connections from one address of large-sender-networks");
    chosen.large_senders =
        reader.networks("large-sender-networks", "", "Networks of large mail providers");
    chosen.exempt = reader.networks("exempt-networks", "",
                                    "Networks exempt from all limits by address, from "
                                    "messages-per-connection and session-timeout");
    chosen.messages_per_minute =
        static_cast<int>(count(reader, "address-rate-per-minute", 0, 0,
                               "Maximum messages per minute from one address; 0: unlimited"));
    chosen.message_burst =
        static_cast<int>(count(reader, "address-rate-burst", 60, 1,
                               "Burst of messages from one address before its rate limit applies"));
    chosen.unknown_recipients =
        static_cast<int>(count(reader, "unknown-recipients-per-address", 30, 0,
                               "Unknown recipients in 10 minutes after which each RCPT reply to an "
                               "address without accepted mail is delayed by 2 s; 0: never"));
    return chosen;
}

recipient_settings read_recipient_settings(config::reader& reader)
{
    recipient_settings chosen;
    chosen.cached_addresses = count(reader, "cached-addresses", 1'000'000, 1'000,
                                    "Maximum live addresses in the LRU cache");
    chosen.timeout = reader.duration("look-up-timeout", 2s, 10ms, 60s,
                                     "How long RCPT waits for the database before 451");
    chosen.messages_per_minute =
        static_cast<int>(count(reader, "inbox-rate-per-minute", 120, 0,
                               "Maximum messages per minute to one inbox; 0: unlimited"));
    chosen.message_burst =
        static_cast<int>(count(reader, "inbox-rate-burst", 60, 1,
                               "Burst of messages to one inbox before its rate limit applies"));
    chosen.inbox_bounds.emails = reader.integer("inbox-max-emails", 10'000, 0, max_value,
                                                "Maximum emails of an inbox; 0: unlimited");
    chosen.inbox_bounds.bytes = static_cast<std::int64_t>(reader.bytes(
        "inbox-max-bytes", gib, 0, 1024 * gib, "Maximum bytes of an inbox; 0: unlimited"));
    return chosen;
}

ingest_settings read_ingest_settings(config::reader& reader)
{
    ingest_settings chosen;
    chosen.max_hops = static_cast<int>(count(
        reader, "hops", 50, 0,
        "Maximum Received fields of a message; past it the message is in a loop; 0: unlimited"));
    chosen.view = mime::read_settings(reader);
    chosen.memory_bytes =
        reader.bytes("memory-limit", 512 * mib, 0, 64 * gib,
                     "Memory for messages being received; past it 452; 0: unlimited");
    chosen.memory_bytes_per_message =
        reader.bytes("memory-per-message", 256 * kib, kib, gib,
                     "Memory of one message; a larger message is spooled to a file");
    chosen.spool_directory = reader.text("spool-directory", "/tmp/tempinbox-mail-ingest",
                                         "Directory where larger messages are spooled until they "
                                         "are stored: a directory of its own, created at start");
    chosen.spool_bytes = reader.bytes("spool-limit", 2 * gib, 0, 1024 * gib,
                                      "Disk space for spooled messages; past it 452; 0: unlimited");
    chosen.readers = count(reader, "readers", 2, 1,
                           "Threads that read messages; one client address has at most one less");
    chosen.group_commit.max_concurrent_commits =
        count(reader, "writers", 4, 1, "Maximum concurrent commits, where earlier ones are slow");
    chosen.group_commit.max_batch_messages =
        count(reader, "messages-per-commit", 128, 1, "Maximum messages of one group commit");
    chosen.group_commit.max_batch_bytes =
        reader.bytes("bytes-per-commit", 8 * mib, kib, gib, "Maximum bytes of one group commit");
    chosen.group_commit.max_queued_messages =
        count(reader, "queued-messages", 4'096, 1,
              "Maximum messages queued for a commit, and to be read, a quarter of them of "
              "one client address; past it 452");
    chosen.group_commit.timeout =
        reader.duration("commit-timeout", 20s, 1s, 600s,
                        "Maximum time from the end of a message to its reply; past it 451");
    std::error_code error;
    if (!std::filesystem::is_directory(
            std::filesystem::absolute(chosen.spool_directory).parent_path(), error))
        reader.add_problem("spool-directory", "must be in an existing directory");
    return chosen;
}

// Adds up the memory the settings allow this process; the sizes of one session and one address are
// measured, rounded up.
void add_memory(config::reader& reader, const settings& chosen)
{
    constexpr std::uint64_t bytes_per_session = 10 * kib;
    constexpr std::uint64_t bytes_per_address = 300;
    const auto bound = [](std::uint64_t bytes) {
        return bytes == 0 ? std::optional<std::uint64_t>() : bytes;
    };
    reader.add_memory("memory-limit", bound(chosen.ingest.memory_bytes));
    reader.add_memory("connections", bound(chosen.client_limits.connections * bytes_per_session));
    if (chosen.takes_logins())
        reader.add_memory("submission-connections",
                          bound(chosen.submission.client_limits.connections * bytes_per_session));
    reader.add_memory("cached-addresses", chosen.recipients.cached_addresses * bytes_per_address);
}

void require_ip_addresses(config::reader& reader, std::string_view name,
                          const std::vector<host_port>& addresses)
{
    for (const auto& address : addresses) {
        boost::system::error_code error;
        boost::asio::ip::make_address(address.host, error);
        if (error)
            reader.add_problem(name, "must be IP addresses");
    }
}

// IP addresses with ports; empty: nowhere.
std::vector<host_port> optional_addresses(config::reader& reader, std::string_view name,
                                          std::string_view meaning)
{
    std::vector<host_port> chosen;
    for (const auto& text : reader.list(name, "", meaning)) {
        auto address = host_port::parse(text);
        if (address)
            chosen.push_back(std::move(*address));
        else
            reader.add_problem(name, address.error().message);
    }
    require_ip_addresses(reader, name, chosen);
    return chosen;
}

smtp::proxy_settings read_proxy_settings(config::reader& reader)
{
    smtp::proxy_settings chosen;
    chosen.listen = optional_addresses(
        reader, "proxy-listen",
        "Where balancers connect that send a PROXY header ahead of each connection: IP "
        "addresses with ports; empty: nowhere");
    chosen.submission_listen = optional_addresses(
        reader, "submission-proxy-listen",
        "The same for submission-listen: IP addresses with ports; empty: nowhere");
    chosen.submissions_listen = optional_addresses(
        reader, "submissions-proxy-listen",
        "The same for submissions-listen, with the header ahead of TLS: IP addresses with ports; "
        "empty: nowhere");
    chosen.networks = reader.networks(
        "proxy-networks", "",
        "Networks of these balancers; a header from elsewhere closes the connection");
    const bool listens = !chosen.listen.empty() || !chosen.submission_listen.empty() ||
                         !chosen.submissions_listen.empty();
    if (listens == chosen.networks.empty())
        reader.add_problem("proxy-networks",
                           "must be set together with proxy-listen, submission-proxy-listen or "
                           "submissions-proxy-listen");
    return chosen;
}

// Passwords in the clear are for the machine itself or a network that is named, never for all.
void require_narrow(config::reader& reader, std::string_view name,
                    const std::vector<network>& networks)
{
    constexpr unsigned min_ipv4_prefix = 8;
    constexpr unsigned min_ipv6_prefix = 7; // fc00::/7, the local addresses of RFC 4193
    for (const auto& one : networks) {
        if (one.prefix_bits() < (one.is_ipv6() ? min_ipv6_prefix : min_ipv4_prefix))
            reader.add_problem(name, "must not be wider than /8 (IPv6: /7), and " + one.text() +
                                         " is: passwords are sent in the clear there");
    }
}

void require_certificate(config::reader& reader, const settings& chosen)
{
    const std::pair<const char*, const std::vector<host_port>&> ports[] = {
        {"submission-listen", chosen.submission.listen},
        {"submissions-listen", chosen.submission.tls_listen},
        {"submission-proxy-listen", chosen.proxy.submission_listen},
        {"submissions-proxy-listen", chosen.proxy.submissions_listen}};
    for (const auto& [name, addresses] : ports) {
        if (!addresses.empty() && chosen.submission.certificate_file.empty())
            reader.add_problem(name,
                               "needs submission-tls-certificate-file or tls-certificate-file");
    }
}

// `chosen` has the settings of mail without login, which hold here too unless they have a twin.
smtp::submission_settings read_submission_settings(config::reader& reader, const settings& chosen)
{
    smtp::submission_settings submission;
    submission.listen = optional_addresses(
        reader, "submission-listen",
        "Where inboxes with a login take mail to anybody, with STARTTLS: IP addresses with ports; "
        "empty: nowhere");
    submission.tls_listen = optional_addresses(
        reader, "submissions-listen",
        "The same under TLS from the first byte: IP addresses with ports; empty: nowhere");
    submission.clear_listen = optional_addresses(
        reader, "submission-clear-listen",
        "The same without TLS, for submission-clear-networks alone: IP addresses with ports; "
        "empty: nowhere");
    submission.clear_networks = reader.networks(
        "submission-clear-networks", "127.0.0.0/8, ::1",
        "Networks whose clients may send passwords in the clear; not wider than /8 (IPv6: /7)");
    if (submission.clear_networks.empty())
        reader.add_problem("submission-clear-networks", "must name a network");
    require_narrow(reader, "submission-clear-networks", submission.clear_networks);
    submission.certificate_file = reader.readable_file(
        "submission-tls-certificate-file", "",
        "Certificate chain of these listeners (PEM), for the name that clients verify; re-read "
        "when it changes; empty: tls-certificate-file");
    submission.key_file =
        reader.readable_file("submission-tls-key-file", "", "Its private key (PEM)");
    if (submission.certificate_file.empty() != submission.key_file.empty())
        reader.add_problem("submission-tls-key-file",
                           "must be set together with submission-tls-certificate-file");
    submission.verified_by.host = reader.text(
        "capture-host", "",
        "Host to which mail to captures is sent, as the gateway has it: the certificate of these "
        "listeners is verified for it; empty: for any name");
    submission.verified_by.ca_file = reader.readable_file(
        "submission-tls-ca-file", "",
        "Certificate authorities (PEM) that clients of these listeners trust, by which the "
        "certificate is verified; empty: the system's");
    if (submission.certificate_file.empty()) {
        submission.certificate_file = chosen.tls_certificate_file;
        submission.key_file = chosen.tls_key_file;
    }
    submission.session = chosen.session;
    submission.session.takes_bare_newlines =
        reader.choice("submission-bare-newlines", "normalize", {"refuse", "normalize"},
                      "bare-newlines for mail from logins") == "normalize";
    submission.session.login =
        reader.duration("login-timeout", 60s, 1s, 24h,
                        "Time from connect to a login, after which a session is closed");
    submission.client_limits.connections =
        count(reader, "submission-connections", 2'048, 0,
              "Maximum open connections of the listeners for logins, counted apart from "
              "connections; 0: unlimited");
    submission.client_limits.connections_per_address =
        count(reader, "submission-connections-per-address", 200, 0,
              "Maximum open connections for logins from one IPv4 address or IPv6 /64, 3 times as "
              "many from a /56, 6 times from a /48; 0: unlimited");
    submission.client_limits.connections_per_large_sender =
        submission.client_limits.connections_per_address;
    submission.client_limits.exempt = chosen.client_limits.exempt;
    submission.logins.sessions_per_login = count(reader, "connections-per-login", 20, 0,
                                                 "Maximum open connections of one login; 0: "
                                                 "unlimited");
    submission.logins.messages_per_minute =
        static_cast<int>(count(reader, "capture-rate-per-minute", 600, 0,
                               "Maximum messages per minute of one login; past it MAIL waits up "
                               "to 10 s, then 450; 0: unlimited"));
    submission.logins.message_burst =
        static_cast<int>(count(reader, "capture-rate-burst", 100, 1,
                               "Burst of messages of one login before its rate limit applies"));
    return submission;
}

} // namespace

settings read_settings(config::reader& reader)
{
    settings chosen;
    chosen.database = postgres::read_settings(reader, 6);
    chosen.kafka = kafka::read_settings(reader);
    chosen.smtp_listen =
        reader.addresses("smtp-listen", "127.0.0.1:2525",
                         "Where mail is received over SMTP: IP addresses with ports");
    require_ip_addresses(reader, "smtp-listen", chosen.smtp_listen);
    chosen.proxy = read_proxy_settings(reader);
    chosen.tls_certificate_file = reader.readable_file(
        "tls-certificate-file", "", "Certificate chain of STARTTLS (PEM); re-read when it changes");
    chosen.tls_key_file = reader.readable_file("tls-key-file", "", "Its private key (PEM)");
    if (chosen.tls_certificate_file.empty() != chosen.tls_key_file.empty())
        reader.add_problem("tls-key-file", "must be set together with tls-certificate-file");
    chosen.session = read_session_limits(reader);
    chosen.client_limits = read_client_limits(reader);
    chosen.submission = read_submission_settings(reader, chosen);
    require_certificate(reader, chosen);
    chosen.recipients = read_recipient_settings(reader);
    chosen.look_up_connections = static_cast<std::size_t>(
        reader.integer("look-up-connections", 2, 1, 200,
                       "Connections to PostgreSQL for RCPT alone, beside database-connections"));
    chosen.ingest = read_ingest_settings(reader);
    chosen.ingest.hostname = chosen.session.hostname;
    add_memory(reader, chosen);
    return chosen;
}

} // namespace tempinbox::mail_ingest
