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
    chosen.hostname = reader.text("hostname", "localhost",
                                  "Name of this server in greetings; that of the MX record");
    chosen.message_bytes = reader.bytes("message-max-bytes", 25 * mib, kib, max_message_bytes,
                                        "Largest message, announced to all; a plan may allow less");
    chosen.recipients =
        static_cast<int>(count(reader, "recipients-per-message", 100, 1,
                               "Recipients of one message (RFC 5321: at least 100)"));
    chosen.messages = static_cast<int>(count(reader, "messages-per-connection", 1'000, 0,
                                             "Messages of one connection; 0: any number"));
    chosen.idle = reader.duration("idle-timeout", 300s, 1s, 24h, "A silent session ends");
    chosen.idle_when_busy =
        reader.duration("busy-idle-timeout", 60s, 1s, 24h,
                        "The same while three quarters of the connections are used");
    chosen.session = reader.duration("session-timeout", 20min, 0s, 24h,
                                     "Longest session, and longest message of one; 0: any length");
    chosen.min_bytes_per_second = static_cast<std::uint64_t>(reader.integer(
        "message-min-rate", 500, 0, max_value,
        "Bytes a second over a minute below which a message is given up; 0: when nothing comes"));
    chosen.errors_before_delay =
        static_cast<int>(count(reader, "errors-before-delay", 10, 0,
                               "From this mistake on each answer waits 1 s; 0: never"));
    chosen.errors_before_close = static_cast<int>(
        count(reader, "errors-before-close", 20, 0, "This mistake ends the session; 0: none does"));
    chosen.unknown_before_delay = static_cast<int>(
        count(reader, "unknown-recipients-before-delay", 5, 0,
              "From this unknown recipient of a session on each waits 2 s; 0: never"));
    chosen.unknown_before_close =
        static_cast<int>(count(reader, "unknown-recipients-before-close", 10, 0,
                               "This unknown recipient ends the session; 0: none does"));
    chosen.refused_before_delay =
        static_cast<int>(count(reader, "refused-recipients-before-delay", 100, 0,
                               "From this refused recipient of a session on, for whatever reason, "
                               "each waits 1 s; 0: never"));
    chosen.takes_bare_newlines =
        reader.choice("bare-newlines", "refuse", {"refuse", "normalize"},
                      "Messages with a bare CR or LF: 550, or stored as they came, with CRLF in "
                      "what is read of them") == "normalize";
    return chosen;
}

smtp::client_limits read_client_limits(config::reader& reader)
{
    smtp::client_limits chosen;
    chosen.connections = count(reader, "connections", 8'192, 0, "Open connections; 0: any number");
    chosen.connections_per_address = count(reader, "connections-per-address", 20, 0,
                                           "The same from one IPv4 address or IPv6 /64, 3 times as "
                                           "many from a /56, 6 times from a /48; 0: any number");
    chosen.connections_per_large_sender =
        count(reader, "connections-per-large-sender", 200, 0,
              "The same from one address of large-sender-networks");
    chosen.large_senders =
        reader.networks("large-sender-networks", "", "Networks of large mail providers");
    chosen.exempt = reader.networks(
        "exempt-networks", "",
        "Networks free of all limits by address, of messages-per-connection and session-timeout");
    chosen.messages_per_minute = static_cast<int>(count(
        reader, "address-rate-per-minute", 0, 0, "Messages taken from one address; 0: any number"));
    chosen.message_burst =
        static_cast<int>(count(reader, "address-rate-burst", 60, 1,
                               "Messages taken from one address at once before its rate counts"));
    chosen.unknown_recipients =
        static_cast<int>(count(reader, "unknown-recipients-per-address", 30, 0,
                               "Unknown recipients in 10 minutes before an address without "
                               "accepted mail waits 2 s each; 0: never"));
    return chosen;
}

recipient_settings read_recipient_settings(config::reader& reader)
{
    recipient_settings chosen;
    chosen.cached_addresses =
        count(reader, "cached-addresses", 1'000'000, 1'000, "Live addresses held in memory");
    chosen.timeout = reader.duration("look-up-timeout", 2s, 10ms, 60s,
                                     "How long RCPT waits for the database before 451");
    chosen.messages_per_minute = static_cast<int>(
        count(reader, "inbox-rate-per-minute", 120, 0, "Messages an inbox takes; 0: any number"));
    chosen.message_burst =
        static_cast<int>(count(reader, "inbox-rate-burst", 60, 1,
                               "Messages an inbox takes at once before its rate counts"));
    chosen.inbox_bounds.emails = reader.integer("inbox-max-emails", 10'000, 0, max_value,
                                                "Emails an inbox holds; 0: any number");
    chosen.inbox_bounds.bytes = static_cast<std::int64_t>(
        reader.bytes("inbox-max-bytes", gib, 0, 1024 * gib, "Bytes an inbox holds; 0: any number"));
    return chosen;
}

ingest_settings read_ingest_settings(config::reader& reader)
{
    ingest_settings chosen;
    chosen.max_hops = static_cast<int>(
        count(reader, "hops", 50, 0, "Received fields past which a message loops; 0: any number"));
    chosen.view = mime::read_settings(reader);
    chosen.memory_bytes = reader.bytes("memory-limit", 512 * mib, 0, 64 * gib,
                                       "Memory for messages under way; past it 452; 0: any amount");
    chosen.memory_bytes_per_message = reader.bytes("memory-per-message", 256 * kib, kib, gib,
                                                   "A larger message is kept in a file");
    chosen.spool_directory = reader.text(
        "spool-directory", "/tmp/tempinbox-mail-ingest",
        "Where larger messages are kept until they are stored: a folder of its own, made at start");
    chosen.spool_bytes =
        reader.bytes("spool-limit", 2 * gib, 0, 1024 * gib,
                     "Disk for larger messages under way; past it 452; 0: any amount");
    chosen.readers = count(reader, "readers", 2, 1, "Threads that read messages");
    chosen.group_commit.max_concurrent_commits =
        count(reader, "writers", 4, 1, "Commits under way at once, where the ones before are slow");
    chosen.group_commit.max_batch_messages =
        count(reader, "messages-per-commit", 128, 1, "Messages committed together");
    chosen.group_commit.max_batch_bytes =
        reader.bytes("bytes-per-commit", 8 * mib, kib, gib, "Bytes committed together");
    chosen.group_commit.max_queued_messages =
        count(reader, "queued-messages", 4'096, 1, "Messages waiting for a commit; past it 452");
    chosen.group_commit.timeout = reader.duration(
        "commit-timeout", 20s, 1s, 600s, "From the end of a message to its answer; past it 451");
    std::error_code error;
    if (!std::filesystem::is_directory(
            std::filesystem::absolute(chosen.spool_directory).parent_path(), error))
        reader.add_problem("spool-directory", "must be in a folder that is there");
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
    reader.add_memory("cached-addresses", chosen.recipients.cached_addresses * bytes_per_address);
}

} // namespace

settings read_settings(config::reader& reader)
{
    settings chosen;
    chosen.database = postgres::read_settings(reader, 6);
    chosen.kafka = kafka::read_settings(reader);
    chosen.smtp_listen = reader.addresses("smtp-listen", "127.0.0.1:2525",
                                          "Where mail is taken: IP addresses with ports");
    for (const auto& address : chosen.smtp_listen) {
        boost::system::error_code error;
        boost::asio::ip::make_address(address.host, error);
        if (error)
            reader.add_problem("smtp-listen", "must be IP addresses");
    }
    chosen.tls_certificate_file =
        reader.readable_file("tls-certificate-file", "",
                             "Certificate chain of STARTTLS (PEM), read anew when it changes");
    chosen.tls_key_file = reader.readable_file("tls-key-file", "", "Its private key (PEM)");
    if (chosen.tls_certificate_file.empty() != chosen.tls_key_file.empty())
        reader.add_problem("tls-key-file", "must be set together with tls-certificate-file");
    chosen.session = read_session_limits(reader);
    chosen.client_limits = read_client_limits(reader);
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
