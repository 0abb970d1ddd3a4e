#pragma once

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"
#include "common/events/events.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "webhook-dispatcher/api/delivery_rpc.hpp"
#include "webhook-dispatcher/api/event_rpc.hpp"
#include "webhook-dispatcher/api/rule_rpc.hpp"
#include "webhook-dispatcher/api/secret_rpc.hpp"
#include "webhook-dispatcher/api/webhook_rpc.hpp"
#include "webhook-dispatcher/core.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tempinbox::testing {

inline crypto::keyring test_keys()
{
    static const std::string line = "test:" + to_base64(crypto::random_bytes(32));
    return crypto::keyring::parse(line).value();
}

inline webhooks::url_policy loopback_policy()
{
    webhooks::url_policy policy;
    policy.addresses = webhooks::address_policy({*network::parse("127.0.0.0/8")}, {});
    policy.allows_http = true;
    return policy;
}

// The core of a dispatcher process on a database, and its RPC without a server. Its broker is
// unreachable: events are passed to `ingest`.
struct dispatcher
{
    explicit dispatcher(const std::string& dsn, webhooks::url_policy policy = loopback_policy(),
                        webhooks::engine_limits limits = {},
                        webhooks::name_resolver_settings names_from = {},
                        crypto::keyring master_keys = test_keys(), std::string master_key_file = {})
        : chosen(settings_of(dsn, std::move(policy), std::move(names_from),
                             {std::move(master_keys), std::move(master_key_file)})),
          core(test_host(), chosen, limits),
          webhook_rpc(test_host(), endpoints, keys, chosen.urls, names.function()),
          secret_rpc(endpoints, keys),
          rule_rpc(rules, chosen.urls),
          delivery_rpc(test_host(), deliveries, replays, manual_sender, replayer),
          event_rpc(feeds)
    {}

    void start()
    {
        recorder.start();
        claimer.start();
        replayer.start();
        is_started = true;
    }
    ~dispatcher()
    {
        if (is_started) {
            await(replayer.stop());
            await(claimer.stop());
            await(engine.drain(std::chrono::seconds(16)));
            await(recorder.drain(std::chrono::seconds(5)));
        }
        core.stored.stop();
    }
    dispatcher(const dispatcher&) = delete;

    static webhooks::settings settings_of(const std::string& dsn, webhooks::url_policy policy,
                                          webhooks::name_resolver_settings names_from,
                                          runtime::master_key_settings master_keys)
    {
        webhooks::settings chosen;
        chosen.database.dsn = dsn;
        chosen.database.connections = 4;
        chosen.kafka.brokers = "127.0.0.1:1";
        chosen.urls = std::move(policy);
        chosen.names = std::move(names_from);
        chosen.keys = std::move(master_keys);
        return chosen;
    }

    webhooks::settings chosen;
    webhooks::core core;
    const crypto::keyring& keys = core.keys.current();
    postgres::pool& db = core.stored.db;
    webhooks::endpoint_repository& endpoints = core.stored.endpoints;
    webhooks::rule_repository& rules = core.stored.rules;
    webhooks::queue_repository& queue = core.stored.queue;
    webhooks::delivery_repository& deliveries = core.stored.deliveries;
    webhooks::manual_delivery_repository& manual_deliveries = core.stored.manual_deliveries;
    webhooks::replay_repository& replays = core.stored.replays;
    webhooks::retention_repository& partitions = core.stored.partitions;
    webhooks::feed_repository& feeds = core.stored.feeds;
    webhooks::config_cache& configs = core.configs;
    webhooks::outcome_recorder& recorder = core.recorder;
    webhooks::auto_disable_monitor& failures = core.failures;
    webhooks::delivery_engine& engine = core.engine;
    webhooks::due_claimer& claimer = core.claimer;
    webhooks::name_resolver& names = core.names;
    webhooks::manual_sender& manual_sender = core.manual_sender;
    webhooks::replayer& replayer = core.replayer;
    webhooks::event_ingest& ingest = core.ingest;
    webhooks::webhook_rpc webhook_rpc;
    webhooks::secret_rpc secret_rpc;
    webhooks::rule_rpc rule_rpc;
    webhooks::delivery_rpc delivery_rpc;
    webhooks::event_rpc event_rpc;
    bool is_started = false;
};

// Holds deliveries and sends nothing.
inline webhooks::engine_limits sends_nothing()
{
    webhooks::engine_limits limits;
    limits.in_flight = 0;
    return limits;
}

// An account as the gateway describes it.
inline accounts::v1::AccountState account_on_plan(account_id account, int webhooks,
                                                  int routing_rules, std::int64_t version = 1)
{
    plans::account_state state;
    state.account = account;
    state.plan = "premium";
    state.limits.webhooks = webhooks;
    state.limits.routing_rules = routing_rules;
    state.version = version;
    return plans::to_proto(state);
}

inline webhooks::v1::CreateWebhookRequest webhook_request(account_id account,
                                                          const std::string& url, int webhooks = 5)
{
    webhooks::v1::CreateWebhookRequest request;
    *request.mutable_account() = account_on_plan(account, webhooks, 20);
    request.set_webhook_id(webhook_id::make().text());
    request.set_url(url);
    return request;
}

inline webhooks::v1::CreateRuleRequest rule_request(account_id account, const std::string& webhook,
                                                    const std::string& subject = "")
{
    webhooks::v1::CreateRuleRequest request;
    *request.mutable_account() = account_on_plan(account, 5, 20);
    request.set_rule_id(rule_id::make().text());
    request.set_name("rule");
    request.set_webhook_id(webhook);
    request.set_is_enabled(true);
    if (!subject.empty()) {
        auto& condition = *request.add_conditions();
        condition.set_field("subject");
        condition.set_operator_("contains");
        condition.set_value(subject);
    }
    return request;
}

inline kafka::record to_record(const outbox::row& row)
{
    kafka::record record;
    record.topic = row.message.topic;
    record.key = row.message.key;
    record.value = row.message.value;
    record.headers = row.message.headers;
    record.is_tombstone = row.message.is_tombstone;
    return record;
}

inline events::v1::EmailReceived email(account_id account, const std::string& subject = "Hello")
{
    events::v1::EmailReceived message;
    message.set_email_id(email_id::make().text());
    message.set_inbox_id(inbox_id::make().text());
    message.set_account_id(account.text());
    message.set_from("sender@example.com");
    message.set_subject(subject);
    message.add_to("box@example.org");
    const auto now = to_unix_micros(system_clock_source{}.now());
    message.mutable_received_at()->set_seconds(now / 1'000'000);
    message.mutable_received_at()->set_nanos(static_cast<int>(now % 1'000'000) * 1'000);
    return message;
}

inline kafka::record email_record(const events::v1::EmailReceived& message)
{
    return to_record(events::make_row(message, trace::traceparent::make()));
}

} // namespace tempinbox::testing
