#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "webhook-dispatcher/delivery/claimer.hpp"
#include "webhook-dispatcher/delivery/engine.hpp"
#include "webhook-dispatcher/delivery/http_sender.hpp"
#include "webhook-dispatcher/delivery/name_resolver.hpp"
#include "webhook-dispatcher/delivery/recorder.hpp"
#include "webhook-dispatcher/delivery/retention.hpp"
#include "webhook-dispatcher/endpoints/auto_disable_monitor.hpp"
#include "webhook-dispatcher/events/dead_letters.hpp"
#include "webhook-dispatcher/events/event_ingest.hpp"
#include "webhook-dispatcher/events/feed_recorder.hpp"
#include "webhook-dispatcher/manual_retry/manual_sender.hpp"
#include "webhook-dispatcher/manual_retry/replayer.hpp"
#include "webhook-dispatcher/routing/config_cache.hpp"
#include "webhook-dispatcher/settings.hpp"
#include "webhook-dispatcher/storage/storage.hpp"

#include <chrono>

namespace tempinbox::webhooks {

// Turns events into deliveries and sends them, and records them in feeds, without the topics and
// without RPC. `chosen` outlives it.
class core
{
public:
    core(runtime::host& host, const settings& chosen, engine_limits limits);
    core(const core&) = delete;

    void start();
    // Once no events come: stops new work, finishes what is in flight, then writes the outcomes.
    awaitable<void> drain(std::chrono::milliseconds timeout);

    storage stored;
    kafka::producer producer;
    runtime::master_keys keys;
    config_cache configs;
    outcome_recorder recorder;
    auto_disable_monitor failures;
    name_resolver names;
    http_sender sender;
    delivery_engine engine;
    due_claimer claimer;
    webhooks::manual_sender manual_sender;
    webhooks::replayer replayer;
    webhooks::retention retention;
    webhooks::dead_letters dead_letters;
    webhooks::feed_recorder feed_recorder;
    event_ingest ingest;

private:
    void take(delivery_outcome outcome);
};

} // namespace tempinbox::webhooks
