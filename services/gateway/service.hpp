#pragma once

#include "accounts/account_store.hpp"
#include "accounts/idempotency_store.hpp"
#include "accounts/key_store.hpp"
#include "common/admin/listener.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/byte_budget.hpp"
#include "common/http/server.hpp"
#include "common/kafka/consumer.hpp"
#include "common/kafka/producer.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/tokens.hpp"
#include "gateway/api/pipeline.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/rate_limit_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/keys/key_cache.hpp"
#include "gateway/keys/key_uses.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/quota/replica_resolver.hpp"
#include "gateway/repeatable/repeatable_calls.hpp"
#include "gateway/settings.hpp"
#include "gateway/waiting/waiting_room.hpp"

namespace tempinbox::gateway {

// The public API: checks keys and the daily quota, validates, and calls the services that own what is asked for. Publishes the
// outbox of accounts.
class service final : public runtime::service
{
public:
    service(runtime::host& host, settings chosen);

    void start() override;
    awaitable<void> drain() override;

private:
    awaitable<http::response> answer(http::request& received);

    runtime::host& host_;
    settings settings_;
    admin::listener admin_;
    rpc::tokens tokens_;
    postgres::pool db_;
    kafka::producer producer_;
    outbox::publisher publisher_;
    accounts::account_store accounts_;
    accounts::key_store key_store_;
    key_cache keys_;
    key_uses uses_;
    quota_client quota_;
    replica_resolver rate_limit_replicas_;
    rate_limit_client quota_days_;
    inbox_client inboxes_;
    webhook_client webhooks_;
    accounts::idempotency_store idempotency_store_;
    repeatable_calls repeatable_;
    byte_budget content_memory_;
    waiting_room waiting_;
    kafka::broadcast_reader mail_events_; // wakes those who wait
    routes operations_;
    pipeline api_;
    http::router site_; // what is outside /v1
    http::server server_;
};

} // namespace tempinbox::gateway
