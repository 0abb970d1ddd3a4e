#pragma once

#include "accounts/account_store.hpp"
#include "accounts/attempt_store.hpp"
#include "accounts/idempotency_store.hpp"
#include "accounts/key_store.hpp"
#include "accounts/plan_store.hpp"
#include "accounts/session_store.hpp"
#include "accounts/sign_up_store.hpp"
#include "accounts/user_store.hpp"
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
#include "gateway/account_mail/mail_relay.hpp"
#include "gateway/account_mail/webhook_notices.hpp"
#include "gateway/api/answer_memory.hpp"
#include "gateway/api/operations.hpp"
#include "gateway/api/pipeline.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/rate_limit_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/dashboard_api/attempt_gate.hpp"
#include "gateway/dashboard_api/mail_feed.hpp"
#include "gateway/dashboard_api/mailed.hpp"
#include "gateway/dashboard_api/passwords.hpp"
#include "gateway/dashboard_api/pipeline.hpp"
#include "gateway/dashboard_api/sign_in.hpp"
#include "gateway/keys/key_cache.hpp"
#include "gateway/keys/key_uses.hpp"
#include "gateway/lists/list_cache.hpp"
#include "gateway/quota/lookup_limiter.hpp"
#include "gateway/quota/quota_client.hpp"
#include "gateway/repeatable/repeatable_calls.hpp"
#include "gateway/sessions/password_hasher.hpp"
#include "gateway/sessions/session_lookups.hpp"
#include "gateway/settings.hpp"
#include "gateway/site/dashboard_page.hpp"
#include "gateway/waiting/waiting_room.hpp"

namespace tempinbox::gateway {

// The public API and the dashboard: checks keys and the daily quota, or sessions, validates, and
// calls the services that own what is asked for. Publishes the outbox of accounts.
class service final : public runtime::service
{
public:
    service(runtime::host& host, settings chosen);

    void start() override;
    awaitable<void> drain() override;

private:
    awaitable<http::response> answer(http::request& received);
    awaitable<http::response> answer_below_base_path(http::request& received);
    awaitable<http::response> dispatch(http::request& received);
    awaitable<http::response> answer_page(http::request& received);
    awaitable<bool> is_open(std::string session_digest);
    awaitable<std::chrono::microseconds> forget();
    void take_events(const std::vector<kafka::record>& batch);

    runtime::host& host_;
    settings settings_;
    admin::listener admin_;
    rpc::tokens tokens_;
    postgres::pool db_;
    postgres::pool changes_db_; // one connection: what is read there waits for nothing else
    kafka::producer producer_;
    outbox::publisher publisher_;
    accounts::account_store accounts_;
    accounts::plan_store plans_;
    accounts::key_store key_store_;
    accounts::key_store changes_;
    lookup_limiter strangers_;
    key_cache keys_;
    key_uses uses_;
    quota_client quota_;
    rpc::replica_resolver rate_limit_replicas_;
    rate_limit_client quota_days_;
    inbox_client inboxes_;
    webhook_client webhooks_;
    accounts::idempotency_store idempotency_store_;
    repeatable_calls repeatable_;
    list_cache list_cache_;
    answer_memory answer_memory_;
    waiting_room waiting_;
    accounts::session_store sessions_;
    session_lookups session_lookups_;
    mail_feed feed_;
    kafka::broadcast_reader mail_events_; // wakes those who wait, and feeds dashboards
    operation_services called_;
    routes operations_;
    pipeline api_;
    accounts::user_store users_;
    accounts::attempt_store attempts_;
    attempt_gate gate_;
    runtime::periodic_task
        forgetting_; // sessions and attempts that are past, and what deleted accounts left
    password_hasher hasher_;
    session_opener session_opener_;
    sign_in_desk sign_ins_;
    password_desk passwords_;
    accounts::sign_up_store sign_ups_;
    mail_relay relay_;
    webhook_notices notices_;
    mailed_desk mailed_;
    routes open_dashboard_operations_;
    routes dashboard_operations_;
    dashboard_pipeline dashboard_;
    dashboard_page page_;
    http::router site_; // what is outside /v1 and /dashboard
    http::server server_;
};

} // namespace tempinbox::gateway
