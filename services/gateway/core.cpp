#include "gateway/core.hpp"

#include "common/rpc/client.hpp"
#include "common/rpc/rate_limit_methods.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr int schema_version = 1;

// Longer than the timeout of the waiting requests, because a late response still counts.
constexpr auto quota_deadline = 5s;
constexpr auto list_ttl = 60s;

// Each replica has its own client, because accounts belong to replicas.
quota_replica quota_replica_at(runtime::host& host, const host_port& address, rpc::tokens& tokens)
{
    const auto client = std::make_shared<rpc::client>(host, std::vector{address}, tokens);
    return quota_replica(address.text(), [client](ratelimit::v1::TakeQuotaRequest request) {
        return client->call(rate_limit_methods::take_quota, std::move(request), quota_deadline);
    });
}

std::vector<quota_replica>
quota_replicas(runtime::host& host, const std::vector<host_port>& addresses, rpc::tokens& tokens)
{
    std::vector<quota_replica> replicas;
    replicas.reserve(addresses.size());
    for (const auto& address : addresses)
        replicas.push_back(quota_replica_at(host, address, tokens));
    return replicas;
}

// Lookups for strangers use at most a quarter of the connections.
std::size_t max_stranger_lookups(const postgres::settings& database)
{
    return std::max<std::size_t>(1, database.connections / 4);
}

poll_sources sources_of(inbox_client& inboxes, response_budget& memory)
{
    poll_sources sources;
    sources.find_first = [&inboxes](inbox::v1::FindFirstEmailsRequest request) {
        return inboxes.call(inbox_methods::find_first_emails, std::move(request));
    };
    sources.find_email = [&inboxes](inbox::v1::GetEmailRequest request) {
        return inboxes.call(inbox_methods::get_email, std::move(request));
    };
    sources.last_sequences = [&inboxes](inbox::v1::GetLastSequencesRequest request) {
        return inboxes.call(inbox_methods::get_last_sequences, std::move(request));
    };
    sources.reserve_memory = [&memory](account_id account, std::size_t bytes) {
        return memory.try_reserve(account, bytes);
    };
    return sources;
}

} // namespace

accounts::state_publisher account_events_of(runtime::host& host, outbox::publisher& publisher)
{
    return accounts::state_publisher(host.instance(), [&publisher](std::vector<outbox::row> rows) {
        publisher.publish(std::move(rows));
    });
}

core::core(runtime::host& host, const settings& chosen)
    : tokens(chosen.rpc_token_file),
      db(host, chosen.database),
      producer(host, chosen.kafka),
      publisher(host, db, producer, "accounts"),
      accounts(db, account_events_of(host, publisher)),
      strangers(host, max_stranger_lookups(chosen.database)),
      quota(host, quota_replicas(host, chosen.rate_limit_rpc, tokens)),
      rate_limit_replicas(host, chosen.rate_limit_rpc,
                          [this, &host](const auto& found) {
                              quota.set_replicas(quota_replicas(host, found, tokens));
                          }),
      quota_days(host, chosen.rate_limit_rpc, tokens),
      inboxes(host, chosen.inbox_rpc, tokens),
      webhooks(host, chosen.webhook_dispatcher_rpc, tokens),
      idempotency_keys(db),
      idempotency(host, idempotency_keys, chosen.master_keys, chosen.stored_keys_a_day),
      lists(host, chosen.list_cache_bytes, list_ttl,
            [this](inbox::v1::GetListVersionsRequest request) {
                return inboxes.try_call(inbox_methods::get_list_versions, std::move(request));
            }),
      response_memory(chosen.response_bytes),
      long_polls(host, sources_of(inboxes, response_memory), chosen.waits)
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

operation_services core::services()
{
    return operation_services{accounts, inboxes,         webhooks,  quota_days,
                              lists,    response_memory, long_polls};
}

} // namespace tempinbox::gateway
