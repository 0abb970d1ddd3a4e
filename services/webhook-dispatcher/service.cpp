#include "webhook-dispatcher/service.hpp"

#include "common/rpc/webhook_methods.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr int schema_version = 2;

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
      endpoints_(db_),
      rules_(db_),
      queue_(db_),
      manual_retries_(db_),
      history_(db_),
      partitions_(db_),
      configs_(rules_, settings_.keys, settings_.urls),
      recorder_(host, queue_, endpoints_),
      failures_(host, endpoints_),
      names_(host, settings_.names),
      sender_(host, settings_.urls.addresses, names_.function(), settings_.ca_file),
      engine_(
          host, [this](delivery_job job) { return sender_.send(std::move(job)); },
          [this](delivery_outcome outcome) { take(std::move(outcome)); }, limits_of(settings_)),
      claimer_(host, queue_, configs_, engine_, recorder_,
               [this](delivery_outcome outcome) { take(std::move(outcome)); }),
      manual_sender_(host, manual_retries_, configs_,
                     [this](delivery_job job) { return sender_.send(std::move(job)); }),
      replayer_(host, manual_retries_,
                [this](webhook_id webhook) { engine_.note_backlog({webhook, queue_kind::retry}); }),
      retention_(host, partitions_, manual_retries_, settings_.retention_days),
      dead_letters_(host, producer_),
      ingest_(host, rules_, configs_, queue_, engine_, recorder_, dead_letters_),
      consumer_(host, membership(settings_),
                [this](const std::vector<kafka::record>& batch) { return ingest_.handle(batch); }),
      webhook_rpc_(host, endpoints_, settings_.keys, settings_.urls, names_.function()),
      secret_rpc_(endpoints_, settings_.keys),
      notice_rpc_(endpoints_),
      rule_rpc_(rules_, settings_.urls),
      delivery_count_call_(
          [this](account_id account, int days) { return history_.count_deliveries(account, days); },
          &v1::DeliveriesOfDay::set_deliveries),
      delivery_rpc_(host, history_, manual_sender_, manual_retries_, replayer_),
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
