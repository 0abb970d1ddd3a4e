#pragma once

#include "accounts/account_repository.hpp"
#include "accounts/idempotency_repository.hpp"
#include "accounts/key_repository.hpp"
#include "accounts/plan_repository.hpp"
#include "accounts/sign_in_repository.hpp"
#include "common/admin/listener.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/server.hpp"
#include "common/kafka/consumer.hpp"
#include "common/kafka/producer.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/replica_resolver.hpp"
#include "common/rpc/tokens.hpp"
#include "common/runtime/periodic_task.hpp"
#include "gateway/account_email/mail_relay.hpp"
#include "gateway/account_email/webhook_notices.hpp"
#include "gateway/api/operations.hpp"
#include "gateway/api/pipeline.hpp"
#include "gateway/api/response_budget.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/rate_limit_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/dashboard_api/attempt_gate.hpp"
#include "gateway/dashboard_api/email_verification_handlers.hpp"
#include "gateway/dashboard_api/event_stream.hpp"
#include "gateway/dashboard_api/password_handlers.hpp"
#include "gateway/dashboard_api/pipeline.hpp"
#include "gateway/dashboard_api/sign_in_handlers.hpp"
#include "gateway/idempotency/idempotent_calls.hpp"
#include "gateway/keys/key_cache.hpp"
#include "gateway/keys/key_uses.hpp"
#include "gateway/lists/list_cache.hpp"
#include "gateway/long_poll/long_poll_hub.hpp"
#include "gateway/quota/lookup_limiter.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/sessions/password_hasher.hpp"
#include "gateway/sessions/session_lookups.hpp"
#include "gateway/settings.hpp"
#include "gateway/site/dashboard_assets.hpp"

namespace tempinbox::gateway {

// The public API and the dashboard. Checks keys and the daily quota, or sessions; validates; and
// calls the services that own the data. Publishes the outbox of accounts.
class service final : public runtime::service
{
public:
    service(runtime::host& host, settings chosen);

    void start() override;
    awaitable<void> drain() override;

private:
    awaitable<http::response> handle(http::request& received);
    awaitable<http::response> handle_below_base_path(http::request& received);
    awaitable<http::response> dispatch(http::request& received);
    awaitable<http::response> handle_dashboard(http::request& received);
    awaitable<bool> is_open(std::string session_digest);
    awaitable<std::chrono::microseconds> purge();
    void take_events(const std::vector<kafka::record>& batch);

    runtime::host& host_;
    settings settings_;
    admin::listener admin_;
    rpc::tokens tokens_;
    postgres::pool db_;
    postgres::pool changes_db_; // one connection, so reads here wait for nothing else
    kafka::producer producer_;
    outbox::publisher publisher_;
    accounts::account_repository accounts_;
    accounts::plan_repository plans_;
    accounts::key_repository key_repository_;
    accounts::key_repository changes_;
    lookup_limiter strangers_;
    key_cache keys_;
    key_uses uses_;
    quota_client quota_;
    rpc::replica_resolver rate_limit_replicas_;
    rate_limit_client quota_days_;
    inbox_client inboxes_;
    webhook_client webhooks_;
    accounts::idempotency_repository idempotency_repository_;
    idempotent_calls idempotency_;
    list_cache list_cache_;
    response_budget response_budget_;
    long_poll_hub long_polls_;
    accounts::sign_in_repository sign_in_;
    session_lookups session_lookups_;
    event_stream event_stream_;
    kafka::broadcast_reader mail_events_; // triggers long polls, and feeds event streams
    operation_services operation_services_;
    routes operations_;
    pipeline api_;
    attempt_gate gate_;
    // Purges ended sessions, old attempts, and the rest of deleted accounts.
    runtime::periodic_task purge_task_;
    password_hasher hasher_;
    session_issuer session_issuer_;
    sign_in_handlers sign_ins_;
    password_handlers passwords_;
    mail_relay relay_;
    webhook_notices notices_;
    email_verification_handlers email_verification_;
    routes open_dashboard_operations_;
    routes dashboard_operations_;
    dashboard_pipeline dashboard_;
    dashboard_assets dashboard_assets_;
    http::router site_; // everything outside /v1 and /dashboard
    http::server server_;
};

} // namespace tempinbox::gateway
