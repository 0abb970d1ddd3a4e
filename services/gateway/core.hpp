#pragma once

#include "accounts/account_repository.hpp"
#include "accounts/idempotency_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/replica_resolver.hpp"
#include "common/rpc/tls.hpp"
#include "common/rpc/tokens.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/list_cache.hpp"
#include "gateway/clients/rate_limit_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/idempotency/idempotent_calls.hpp"
#include "gateway/long_poll/long_poll_hub.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/quota/lookup_limiter.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/resources/operations.hpp"
#include "gateway/settings.hpp"

#include <chrono>

namespace tempinbox::gateway {

// What the API and the dashboard share: accounts and their events, quota, the services that own
// inboxes and webhooks, long polls, and the bounds on all of these.
class core
{
public:
    core(runtime::host& host, const settings& chosen);
    core(const core&) = delete;

    void start();
    // Ends long polls, so that their requests can finish.
    void interrupt() { long_polls.interrupt(); }
    // Once the requests have ended: ends background work, and reports the usage they left behind,
    // for `flush_timeout` at most.
    awaitable<void> stop(std::chrono::milliseconds flush_timeout);
    // Once nothing adds events any more.
    awaitable<void> publish_rest(std::chrono::milliseconds timeout);

    // For operations; valid as long as this.
    operation_services services(const capture_server& captures);

    rpc::tokens tokens;
    rpc::tls_contexts rpc_tls;
    postgres::pool db;
    kafka::producer producer;
    outbox::publisher publisher;
    accounts::account_repository accounts;
    lookup_limiter strangers;
    quota_client quota;
    rpc::replica_resolver rate_limit_replicas;
    rate_limit_client quota_days;
    inbox_client inboxes;
    webhook_client webhooks;
    accounts::idempotency_repository idempotency_keys;
    idempotent_calls idempotency;
    list_cache lists;
    response_budget response_memory;
    long_poll_hub long_polls;
};

} // namespace tempinbox::gateway
