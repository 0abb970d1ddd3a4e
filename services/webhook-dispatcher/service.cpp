#include "webhook-dispatcher/service.hpp"

#include "common/rpc/webhook_methods.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr int schema_version = 5;

kafka::consumer_settings membership(const settings& chosen)
{
    kafka::consumer_settings member;
    member.cluster = chosen.kafka;
    member.group = chosen.consumer_group;
    member.topics = chosen.topics;
    return member;
}

engine_limits limits_of(const settings& chosen)
{
    engine_limits limits;
    limits.held = chosen.deliveries_in_memory;
    return limits;
}

} // namespace

service::service(runtime::host& host, settings chosen)
    : host_(host),
      settings_(std::move(chosen)),
      admin_(host),
      db_(host, settings_.database),
      producer_(host, settings_.kafka),
      endpoint_store_(db_),
      secret_store_(db_),
      notice_store_(db_),
      rule_store_(db_),
      config_store_(db_),
      delivery_store_(db_),
      outcome_store_(db_),
      retention_store_(db_),
      resend_store_(db_),
      replay_store_(db_),
      failure_store_(db_),
      delivery_log_(db_),
      routing_log_(db_),
      configs_(config_store_, settings_.keys, settings_.urls),
      recorder_(host, outcome_store_, endpoint_store_),
      failures_(host, failure_store_, endpoint_store_),
      names_(host, settings_.names),
      sender_(host, settings_.urls.addresses, names_.function(), settings_.ca_file),
      engine_(
          host, [this](delivery_job job) { return sender_.send(std::move(job)); },
          [this](delivery_outcome outcome) { take(std::move(outcome)); }, limits_of(settings_)),
      claimer_(host, delivery_store_, configs_, engine_, recorder_,
               [this](delivery_outcome outcome) { take(std::move(outcome)); }),
      manual_sender_(host, resend_store_, configs_,
                     [this](delivery_job job) { return sender_.send(std::move(job)); }),
      replayer_(host, replay_store_),
      retention_(host, retention_store_, replay_store_, resend_store_, settings_.retention_days),
      dead_letters_(host, producer_),
      ingest_(host, config_store_, configs_, delivery_store_, engine_, recorder_, dead_letters_),
      consumer_(host, membership(settings_),
                [this](const std::vector<kafka::record>& batch) { return ingest_.handle(batch); }),
      webhook_rpc_(host, endpoint_store_, secret_store_, settings_.keys, settings_.urls,
                   names_.function()),
      secret_rpc_(secret_store_, settings_.keys),
      notice_rpc_(notice_store_),
      rule_rpc_(rule_store_, config_store_, settings_.urls),
      delivery_counts_(db_),
      delivery_count_call_(
          [this](account_id account, int days) { return delivery_counts_.list(account, days); },
          &v1::DeliveriesOfDay::set_deliveries),
      delivery_rpc_(host, delivery_log_, routing_log_, manual_sender_, replay_store_, replayer_),
      tokens_(settings_.rpc_token_file),
      server_(host, settings_.rpc, tokens_)
{
    db_.require_schema("webhooks", schema_version);
    webhook_rpc_.add_to(server_);
    secret_rpc_.add_to(server_);
    notice_rpc_.add_to(server_);
    rule_rpc_.add_to(server_);
    delivery_count_call_.add_to(server_, webhook_methods::count_deliveries);
    delivery_rpc_.add_to(server_);
}

void service::take(delivery_outcome outcome)
{
    failures_.note(outcome);
    recorder_.record(std::move(outcome));
}

void service::start()
{
    admin_.start();
    server_.start();
    retention_.start();
    recorder_.start();
    failures_.start();
    claimer_.start();
    replayer_.start();
    consumer_.start();
}

awaitable<void> service::drain()
{
    // First stop new work, then finish what is in flight, then write the outcomes.
    const auto timeout = host_.settings().drain_timeout;
    co_await consumer_.stop();
    co_await replayer_.stop();
    co_await claimer_.stop();
    co_await retention_.stop();
    const auto last_request = std::chrono::steady_clock::now() + timeout * 7 / 10;
    co_await engine_.drain(timeout * 7 / 10);
    co_await manual_sender_.drain(last_request);
    co_await failures_.stop();
    co_await recorder_.drain(timeout / 10);
    co_await producer_.flush(timeout / 20);
    co_await server_.drain(timeout / 10);
    db_.stop();
    admin_.stop();
}

} // namespace tempinbox::webhooks
