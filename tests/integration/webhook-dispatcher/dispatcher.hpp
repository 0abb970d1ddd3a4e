#pragma once

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"
#include "common/events/events.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "webhook-dispatcher/api/delivery_rpc.hpp"
#include "webhook-dispatcher/api/rule_rpc.hpp"
#include "webhook-dispatcher/api/secret_rpc.hpp"
#include "webhook-dispatcher/api/webhook_rpc.hpp"
#include "webhook-dispatcher/delivery/claimer.hpp"
#include "webhook-dispatcher/delivery/http_sender.hpp"
#include "webhook-dispatcher/delivery/name_resolver.hpp"
#include "webhook-dispatcher/delivery/recorder.hpp"
#include "webhook-dispatcher/endpoints/auto_disable_monitor.hpp"
#include "webhook-dispatcher/events/event_ingest.hpp"
#include "webhook-dispatcher/storage/queue_repository.hpp"
#include "webhook-dispatcher/storage/retention_repository.hpp"

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

// The parts of one dispatcher process on a database, without RPC and without a broker: events are
// passed to `event_ingest`.
struct dispatcher
{
    explicit dispatcher(const std::string& dsn, webhooks::url_policy policy = loopback_policy(),
                        webhooks::engine_limits limits = {},
                        webhooks::name_resolver_settings names_from = {},
                        crypto::keyring master_keys = test_keys())
        : keys(std::move(master_keys)),
          db(test_host(), database(dsn)),
          producer(test_host(), nowhere()),
          endpoints(db),
          rules(db),
          queue(db),
          manual_retries(db),
          history(db),
          partitions(db),
          configs(rules, keys, policy),
          recorder(test_host(), queue, endpoints),
          failures(test_host(), endpoints),
          names(test_host(), names_from),
          sender(test_host(), policy.addresses, names.function(), ""),
          engine(
              test_host(),
              [this](webhooks::delivery_job job) { return sender.send(std::move(job)); },
              [this](webhooks::delivery_outcome outcome) { take(std::move(outcome)); }, limits),
          claimer(test_host(), queue, configs, engine, recorder,
                  [this](webhooks::delivery_outcome outcome) { take(std::move(outcome)); }),
          manual_sender(test_host(), manual_retries, configs,
                        [this](webhooks::delivery_job job) { return sender.send(std::move(job)); }),
          replayer(test_host(), manual_retries,
                   [this](webhook_id webhook) {
                       engine.note_backlog({webhook, webhooks::queue_kind::retry});
                   }),
          dead_letters(test_host(), producer),
          ingest(test_host(), rules, configs, queue, engine, recorder, dead_letters),
          webhook_rpc(test_host(), endpoints, keys, policy, names.function()),
          secret_rpc(endpoints, keys),
          rule_rpc(rules, policy),
          delivery_rpc(test_host(), history, manual_sender, manual_retries, replayer)
    {}

    void start()
    {
        recorder.start();
        claimer.start();
        replayer.start();
        is_started = true;
    }
    void take(webhooks::delivery_outcome outcome)
    {
        failures.note(outcome);
        recorder.record(std::move(outcome));
    }
    ~dispatcher()
    {
        if (is_started) {
            await(replayer.stop());
            await(claimer.stop());
            await(engine.drain(std::chrono::seconds(16)));
            await(recorder.drain(std::chrono::seconds(5)));
        }
        db.stop();
    }
    dispatcher(const dispatcher&) = delete;

    static postgres::settings database(const std::string& dsn)
    {
        postgres::settings chosen;
        chosen.dsn = dsn;
        chosen.connections = 4;
        return chosen;
    }
    static kafka::settings nowhere()
    {
        kafka::settings cluster;
        cluster.brokers = "127.0.0.1:1";
        return cluster;
    }

    crypto::keyring keys;
    postgres::pool db;
    kafka::producer producer;
    webhooks::endpoint_repository endpoints;
    webhooks::rule_repository rules;
    webhooks::queue_repository queue;
    webhooks::manual_retry_repository manual_retries;
    webhooks::history_repository history;
    webhooks::retention_repository partitions;
    webhooks::config_cache configs;
    webhooks::outcome_recorder recorder;
    webhooks::auto_disable_monitor failures;
    webhooks::name_resolver names;
    webhooks::http_sender sender;
    webhooks::delivery_engine engine;
    webhooks::due_claimer claimer;
    webhooks::manual_sender manual_sender;
    webhooks::replayer replayer;
    webhooks::dead_letters dead_letters;
    webhooks::event_ingest ingest;
    webhooks::webhook_rpc webhook_rpc;
    webhooks::secret_rpc secret_rpc;
    webhooks::rule_rpc rule_rpc;
    webhooks::delivery_rpc delivery_rpc;
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
