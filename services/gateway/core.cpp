#include "gateway/core.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr int schema_version = 5;

constexpr auto list_ttl = 60s;

// tempinboxctl leaves its events to this sweep, and what it changed must be in force within 1 s: a
// sweep, Kafka and the 300 ms between two reads of a cache of logins fit in there.
constexpr auto sweep_interval = 250ms;

// Lookups for strangers use at most a quarter of the connections.
std::size_t max_stranger_lookups(const postgres::settings& database)
{
    return std::max<std::size_t>(1, database.connections / 4);
}

rpc::client_settings client_settings_of(const rpc::tls_contexts& tls)
{
    rpc::client_settings calls;
    calls.tls = tls.client;
    return calls;
}

// What publishes the events of accounts.
accounts::state_publisher account_events_of(runtime::host& host, outbox::publisher& publisher)
{
    return accounts::state_publisher(host.instance(), [&publisher](std::vector<outbox::row> rows) {
        publisher.publish(std::move(rows));
    });
}

} // namespace

core::core(runtime::host& host, const settings& chosen)
    : tokens(host.files(), "rpc-token-file", chosen.rpc_token_file),
      rpc_tls(rpc::watch_tls(host, chosen.rpc_tls)),
      db(host, chosen.database),
      producer(host, chosen.kafka),
      publisher(host, db, producer, "accounts", accounts::remover_of_published(host.instance()),
                sweep_interval),
      accounts(db, account_events_of(host, publisher)),
      strangers(host, max_stranger_lookups(chosen.database)),
      quota(host, chosen.rate_limit_rpc, tokens, client_settings_of(rpc_tls)),
      rate_limit_replicas(host, chosen.rate_limit_rpc,
                          [this](const auto& found) { quota.set_replicas(found); }),
      quota_days(host, chosen.rate_limit_rpc, tokens, client_settings_of(rpc_tls)),
      inboxes(host, chosen.inbox_rpc, tokens, client_settings_of(rpc_tls)),
      webhooks(host, chosen.webhook_dispatcher_rpc, tokens, client_settings_of(rpc_tls)),
      idempotency_keys(db, chosen.idempotency_ttl),
      idempotency(host, idempotency_keys, chosen.master_keys, chosen.stored_keys_a_day),
      lists(host, chosen.list_cache_bytes, list_ttl, inboxes),
      response_memory(chosen.response_bytes),
      long_polls(host, inboxes, response_memory, chosen.waits)
{
    db.require_schema("accounts", schema_version);
}

void core::start()
{
    idempotency.start();
    quota.start();
    rate_limit_replicas.start();
    publisher.start();
    long_polls.start();
}

awaitable<void> core::stop(std::chrono::milliseconds flush_timeout)
{
    co_await long_polls.stop();
    co_await rate_limit_replicas.stop();
    co_await quota.flush(flush_timeout);
    quota.stop();
    co_await idempotency.stop();
}

awaitable<void> core::publish_rest(std::chrono::milliseconds timeout)
{
    co_await publisher.drain(timeout);
    db.stop();
}

operation_services core::services(const capture_server& captures)
{
    return operation_services{accounts, inboxes,         webhooks,   quota_days,
                              lists,    response_memory, long_polls, captures};
}

} // namespace tempinbox::gateway
