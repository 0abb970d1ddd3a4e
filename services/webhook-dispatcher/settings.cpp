#include "webhook-dispatcher/settings.hpp"

#include "common/events/events.hpp"

namespace tempinbox::webhooks {
settings::settings()
    : topics{events::topics::email_received, events::topics::inbox_created,
             events::topics::inbox_expired, events::topics::account_state}
{
    rpc.name = "rpc";
    // The largest call tests rules with the headers of one email.
    rpc.body_limit = 1024 * 1024;
}

settings read_settings(config::reader& reader)
{
    using namespace std::chrono_literals;
    settings chosen;
    chosen.database = postgres::read_settings(reader);
    chosen.kafka = kafka::read_settings(reader);
    chosen.rpc.listen =
        reader.address("rpc-listen", "127.0.0.1:9103", "where the other services call this one");
    chosen.rpc_token_file = reader.readable_file(
        "rpc-token-file", "", "one or two tokens of internal calls, a line each");
    if (chosen.rpc_token_file.empty())
        reader.add_problem("rpc-token-file", "must be set");
    chosen.rpc_tls = rpc::read_tls_settings(reader);
    chosen.keys = runtime::read_master_key_settings(reader, "webhook secrets");
    auto allowed = reader.networks("webhook-allow-networks", "",
                                   "private or reserved networks that webhooks may be sent to");
    auto denied = reader.networks(
        "webhook-deny-networks", "",
        "public networks that webhooks must not be sent to, such as the operator's own");
    chosen.urls.addresses = address_policy(std::move(allowed), std::move(denied));
    chosen.urls.allows_http = reader.flag("webhook-allow-http", false,
                                          "whether webhooks may use http:// besides https://");
    chosen.ca_file =
        reader.readable_file("webhook-ca-file", "",
                             "certificates trusted for webhooks, read again when the file "
                             "changes; empty: the system's");
    for (const auto& server :
         reader.list("webhook-dns-servers", "",
                     "name servers for webhooks as address:port; empty: the system's"))
        chosen.names.servers += (chosen.names.servers.empty() ? "" : ",") + server;
    chosen.names.deadline = reader.duration("webhook-dns-timeout", 2s, 100ms, 10s,
                                            "maximum time to resolve a webhook's host name");
    chosen.retention_days =
        static_cast<int>(reader.integer("delivery-retention-days", 30, 9, 3'650,
                                        "days that deliveries and their attempts are stored"));
    chosen.deliveries_in_memory = static_cast<std::size_t>(
        reader.integer("deliveries-in-memory", 10'000, 100, 1'000'000,
                       "maximum deliveries in memory; further ones wait in PostgreSQL"));
    constexpr std::uint64_t bytes_a_delivery = 4 * 1024;
    reader.add_memory("deliveries-in-memory", chosen.deliveries_in_memory * bytes_a_delivery);
    return chosen;
}

} // namespace tempinbox::webhooks
