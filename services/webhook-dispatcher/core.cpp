#include "webhook-dispatcher/core.hpp"

namespace tempinbox::webhooks {

core::core(runtime::host& host, const settings& chosen, engine_limits limits)
    : stored(host, chosen.database),
      producer(host, chosen.kafka),
      // A webhook that no key opened may open now.
      keys(host, chosen.keys, [this] { configs.clear(); }),
      configs(stored.rules, keys.current(), chosen.urls),
      recorder(host, stored.queue, stored.endpoints,
               [this](webhook_key webhook) { replayer.step_soon(webhook); }),
      failures(host, stored.endpoints),
      names(host, chosen.names),
      sender(host, chosen.urls.addresses, names.function(), chosen.ca_file),
      engine(
          host, [this](delivery_job job) { return sender.send(std::move(job)); },
          [this](delivery_outcome outcome) { take(std::move(outcome)); }, limits),
      claimer(host, stored.queue, configs, engine, recorder,
              [this](delivery_outcome outcome) { take(std::move(outcome)); }),
      manual_sender(host, stored.manual_deliveries, configs,
                    [this](delivery_job job) { return sender.send(std::move(job)); }),
      replayer(host, stored.replays,
               [this](webhook_key moved) {
                   engine.note_backlog({moved.account, moved.webhook, queue_kind::retry});
               }),
      retention(host, stored.partitions, stored.replays, stored.manual_deliveries,
                chosen.retention_days),
      dead_letters(host, producer),
      feed_recorder(host, stored.feeds, producer),
      ingest(host, {chosen.kafka, chosen.consumer_group}, stored.rules, configs, stored.queue,
             feed_recorder, engine, recorder, dead_letters)
{}

void core::take(delivery_outcome outcome)
{
    failures.note(outcome);
    recorder.record(std::move(outcome));
}

void core::start()
{
    retention.start();
    recorder.start();
    failures.start();
    claimer.start();
    replayer.start();
}

awaitable<void> core::drain(std::chrono::milliseconds timeout)
{
    co_await replayer.stop();
    co_await claimer.stop();
    co_await retention.stop();
    const auto last_request = std::chrono::steady_clock::now() + timeout * 7 / 10;
    co_await engine.drain(timeout * 7 / 10);
    co_await manual_sender.drain(last_request);
    co_await failures.stop();
    co_await recorder.drain(timeout / 10);
    co_await producer.flush(timeout / 20);
}

} // namespace tempinbox::webhooks
