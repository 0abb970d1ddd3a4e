#include "webhook-dispatcher/service.hpp"

#include "common/rpc/webhook_methods.hpp"

namespace tempinbox::webhooks {
namespace {

kafka::consumer_settings membership(const settings& chosen)
{
    kafka::consumer_settings member;
    member.cluster = chosen.kafka;
    member.group = chosen.consumer_group;
    member.topics = chosen.topics;
    return member;
}

http::server_settings rpc_settings(const settings& chosen, const rpc::tls_contexts& tls)
{
    auto server = chosen.rpc;
    server.tls = tls.server;
    return server;
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
      traces_(host),
      core_(host, settings_, limits_of(settings_)),
      consumer_(
          host, membership(settings_),
          [this](const std::vector<kafka::record>& batch) { return core_.ingest.handle(batch); }),
      webhook_rpc_(host, core_.stored.endpoints, core_.keys.current(), settings_.urls,
                   core_.names.function()),
      secret_rpc_(core_.stored.endpoints, core_.keys.current()),
      notice_rpc_(core_.stored.endpoints),
      rule_rpc_(core_.stored.rules, settings_.urls),
      delivery_count_call_(
          [this](account_id account, int days) {
              return core_.stored.deliveries.count_by_day(account, days);
          },
          &v1::DeliveriesOfDay::set_deliveries),
      delivery_rpc_(host, core_.stored.deliveries, core_.stored.replays, core_.manual_sender,
                    core_.replayer),
      event_rpc_(core_.stored.feeds),
      tokens_(host.files(), "rpc-token-file", settings_.rpc_token_file),
      rpc_tls_(rpc::watch_tls(host, settings_.rpc_tls)),
      server_(host, rpc_settings(settings_, rpc_tls_), tokens_)
{
    webhook_rpc_.add_to(server_);
    secret_rpc_.add_to(server_);
    notice_rpc_.add_to(server_);
    rule_rpc_.add_to(server_);
    delivery_count_call_.add_to(server_, webhook_methods::count_deliveries);
    delivery_rpc_.add_to(server_);
    event_rpc_.add_to(server_);
}

void service::start()
{
    admin_.start();
    traces_.start();
    server_.start();
    core_.start();
    consumer_.start();
}

awaitable<void> service::drain()
{
    const auto timeout = host_.settings().drain_timeout;
    co_await consumer_.stop();
    co_await core_.drain(timeout);
    co_await server_.drain(timeout / 10);
    core_.stored.stop();
    co_await traces_.drain(otlp::drain_timeout);
    admin_.stop();
}

} // namespace tempinbox::webhooks
