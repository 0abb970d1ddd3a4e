#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/settings.hpp"
#include "webhook-dispatcher/delivery/engine.hpp"
#include "webhook-dispatcher/delivery/recorder.hpp"
#include "webhook-dispatcher/events/dead_letters.hpp"
#include "webhook-dispatcher/events/decoded_event.hpp"
#include "webhook-dispatcher/events/feed_recorder.hpp"
#include "webhook-dispatcher/routing/config_cache.hpp"

#include <vector>

namespace tempinbox::webhooks {

// Turns a batch of events into deliveries: reads, routes, stores all of it in one statement, and
// submits what fits the windows to the engine. Events of recorded accounts go to their feeds by a
// statement of its own, so that the lock of a busy feed holds up no delivery. When it returns,
// everything is stored and the offsets may be committed. What can never be handled goes to the dead
// letters. Throws dependency_error while PostgreSQL or Kafka is away or too many outcomes wait to
// be written: the batch is consumed again.
class event_ingest
{
public:
    // Where the events come from, as spans name it.
    struct source
    {
        kafka::settings cluster;
        std::string group;
    };

    event_ingest(runtime::host& host, source from, rule_repository& rules, config_cache& configs,
                 queue_repository& deliveries, feed_recorder& feeds, delivery_engine& engine,
                 outcome_recorder& recorder, dead_letters& dead_letters);

    awaitable<void> handle(const std::vector<kafka::record>& batch);

private:
    struct routed_event
    {
        const kafka::record* source = nullptr;
        decoded_event event;
        std::vector<route> routes;
        std::vector<rule_match> rules; // the match of each rule, if there are any
        bool is_recorded = false;      // it goes to its account's feed
        std::string payload;           // made for whoever gets it
        trace::span span;              // until its deliveries are stored

        bool goes_anywhere() const { return !routes.empty() || !rules.empty(); }
    };
    struct sorted_batch
    {
        std::vector<routed_event> events;
        std::vector<plans::account_state> states;
        std::vector<kafka::message> dead_letters;
    };
    // What one insert stores, and the jobs it starts.
    struct plan;

    void observe_ages(const std::vector<routed_event>& events);
    sorted_batch sort(const std::vector<kafka::record>& batch) const;
    void choose_routes(std::vector<routed_event>& events,
                       const config_cache::configs& configs) const;
    static std::vector<new_feed_event> recorded_of(const std::vector<routed_event>& events);
    plan make_plan(const std::vector<routed_event>& events);
    awaitable<bool> store_with_cached(std::vector<routed_event>& events,
                                      const std::vector<account_id>& accounts);
    awaitable<bool> store(const std::vector<routed_event>& events, const config_versions& versions);
    awaitable<void> store_routed(std::vector<routed_event> events);
    awaitable<void> store_one_by_one(std::vector<routed_event> events);
    awaitable<void> record(std::vector<new_feed_event> events,
                           const std::vector<kafka::record>& batch);
    void start(plan& planned, const std::vector<delivery_key>& leased);
    void release_reservations(const plan& planned);

    runtime::host& host_;
    const source from_;
    rule_repository& rules_;
    config_cache& configs_;
    queue_repository& deliveries_;
    feed_recorder& feeds_;
    delivery_engine& engine_;
    outcome_recorder& recorder_;
    dead_letters& dead_letters_;
    prometheus::Counter& events_;
    prometheus::Histogram& email_to_event_;
};

} // namespace tempinbox::webhooks
