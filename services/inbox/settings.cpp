#include "inbox/settings.hpp"

#include "common/core/text.hpp"
#include "inbox/reading/message_parser.hpp"
#include "mime/settings.hpp"

namespace tempinbox::inbox {
namespace {

constexpr std::uint64_t mib = 1024 * 1024;
constexpr std::uint64_t gib = 1024 * mib;
// By webhook-dispatcher, at most (docs/events/feed.md). An inbox that is purged has no tags.
constexpr std::chrono::hours feed_retention{96};

} // namespace

settings read_settings(config::reader& reader)
{
    using namespace std::chrono_literals;
    settings chosen;
    chosen.database = postgres::read_settings(reader);
    chosen.kafka = kafka::read_settings(reader);
    chosen.rpc_listen =
        reader.address("rpc-listen", "127.0.0.1:9101", "Where the other services call this one");
    chosen.rpc_token_file = reader.readable_file(
        "rpc-token-file", "", "One or two tokens of internal calls, a line each");
    if (chosen.rpc_token_file.empty())
        reader.add_problem("rpc-token-file", "must be set");
    chosen.rpc_tls = rpc::read_tls_settings(reader);
    chosen.quarantine = std::chrono::duration_cast<std::chrono::seconds>(
        reader.duration("quarantine", 24h * 30, 1s, 24h * 3'650,
                        "How long an ended inbox can be read and its address is not reused"));
    if (chosen.quarantine < feed_retention)
        reader.add_warning("quarantine is less than the 96h that feeds keep an event: a key with a "
                           "tag, or a filter by tag, does not see events of inboxes that are gone");
    chosen.purge_interval =
        reader.duration("purge-interval", 2s, 10ms, 1h,
                        "Interval between purges of mail: that of ended inboxes, and what "
                        "others keep no longer");
    chosen.mail_readers = static_cast<int>(reader.integer(
        "mail-readers", 2, 1, 64,
        "Threads that parse messages for the API; one account has at most one less"));
    chosen.reading_bytes = static_cast<std::size_t>(
        reader.bytes("reading-memory", message_parser::default_max_bytes, mib, 64 * gib,
                     "Memory for messages being parsed for the API, an eighth of it for one "
                     "account; past it 503"));
    reader.add_memory("reading-memory", chosen.reading_bytes);
    chosen.view_cache_bytes = static_cast<std::size_t>(
        reader.bytes("view-cache", 16 * mib, 0, 64 * gib,
                     "Memory of the LRU cache for parsed messages; 0: no cache"));
    reader.add_memory("view-cache", chosen.view_cache_bytes);
    chosen.text_cache_bytes = static_cast<std::size_t>(
        reader.bytes("text-cache", 16 * mib, 0, 64 * gib,
                     "Memory of the LRU cache for what searches read of messages; 0: no cache"));
    reader.add_memory("text-cache", chosen.text_cache_bytes);
    chosen.search_bytes = static_cast<std::size_t>(
        reader.bytes("search-bytes", 16 * mib, 1, gib,
                     "Bytes of messages that one page of a search by text or header opens"));
    chosen.search_time = std::chrono::duration_cast<std::chrono::milliseconds>(
        reader.duration("search-time", 400ms, 1ms, 4s,
                        "How long one page of a search by text or header opens messages"));
    chosen.view = mime::read_settings(reader);
    chosen.inbox_bounds.emails = reader.integer("inbox-max-emails", 10'000, 0, 1'000'000'000,
                                                "Emails at which an inbox is full: shown so, or "
                                                "trimmed from 90 % to 80 % of them; set it to "
                                                "the value of mail-ingest");
    chosen.inbox_bounds.bytes =
        static_cast<std::int64_t>(reader.bytes("inbox-max-bytes", gib, 0, 1024 * gib,
                                               "Bytes at which an inbox is full: shown so, or "
                                               "trimmed from 90 % to 80 % of them; set it to "
                                               "the value of mail-ingest"));
    chosen.reserved_subdomains = reader.list(
        "reserved-subdomains", "",
        "Names below the mail domains that no account may hold, beside the usual ones: such as "
        "hosts of yours");
    for (auto& label : chosen.reserved_subdomains)
        label = to_lower_ascii(label);
    return chosen;
}

} // namespace tempinbox::inbox
