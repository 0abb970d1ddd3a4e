#include "webhook-dispatcher/events/event_ingest.hpp"

#include "common/kafka/names.hpp"
#include "common/log/log.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace tempinbox::webhooks {
namespace {

constexpr std::string_view consumer_name = "webhook-dispatcher";
// A deadlock is no fault of the event.
constexpr int attempts_alone = 3;

// Stores by `store`, in so many attempts at most. The reason of the last refusal; none once it is
// stored. While PostgreSQL is away it throws, and the consumer waits.
template <typename Store>
awaitable<std::optional<std::string>> try_storing(int attempts, Store store)
{
    std::optional<std::string> refused;
    for (int attempt = 1; attempt <= attempts; ++attempt) {
        try {
            co_await store();
            co_return std::nullopt;
        } catch (const dependency_error&) {
            throw;
        } catch (const std::exception& error) {
            // The caller logs what it does about it.
            refused = error.what();
        }
    }
    co_return refused;
}

// The work on one record, as a part of the trace that its producer named. Semantic conventions,
// "Messaging".
trace::span begin_process(runtime::host& host, const event_ingest::source& from,
                          const kafka::record& record, event_id event)
{
    auto& tracer = host.tracer();
    if (!tracer.is_on())
        return {};
    const auto cause =
        trace::read_context(record.header("traceparent"), record.header("tracestate"));
    auto span =
        tracer.begin("process", trace::span_kind::consumer, cause.value_or(trace::context()));
    if (!span.is_recording())
        return span;
    const auto topic = kafka::prefixed(from.cluster, record.topic);
    span.rename("process " + topic);
    span.set("messaging.system", "kafka");
    span.set("messaging.operation.name", "process");
    span.set("messaging.operation.type", "process");
    span.set("messaging.client.id", kafka::client_id(from.cluster, host.name()));
    span.set("messaging.consumer.group.name", kafka::prefixed(from.cluster, from.group));
    span.set("messaging.destination.name", topic);
    span.set("messaging.destination.partition.id", std::to_string(record.partition));
    span.set("messaging.kafka.offset", record.offset);
    span.set("messaging.kafka.message.key", record.key);
    span.set("messaging.message.id", event.text());
    return span;
}

} // namespace

struct event_ingest::plan
{
    std::vector<new_event> events;
    std::vector<new_delivery> deliveries;
    std::vector<new_routing> routings;
    std::map<delivery_key, delivery_job> jobs; // for the reserved capacity
    uuid lease = uuid::make_v7();
    std::chrono::steady_clock::time_point lease_end = std::chrono::steady_clock::now() + lease_time;

    plan() = default;
};

event_ingest::event_ingest(runtime::host& host, source from, rule_repository& rules,
                           config_cache& configs, queue_repository& deliveries,
                           feed_recorder& feeds, delivery_engine& engine,
                           outcome_recorder& recorder, dead_letters& dead_letters)
    : host_(host),
      from_(std::move(from)),
      rules_(rules),
      configs_(configs),
      deliveries_(deliveries),
      feeds_(feeds),
      engine_(engine),
      recorder_(recorder),
      dead_letters_(dead_letters),
      events_(host.metrics().counter("tempinbox_webhook_dispatcher_events_total",
                                     "Events read and routed")),
      email_to_event_(host.metrics().histogram(
          "tempinbox_email_to_event_seconds",
          "From the storing of an email to the reading of its event by the dispatcher",
          metrics::wait_buckets()))
{}

awaitable<void> event_ingest::handle(const std::vector<kafka::record>& batch)
{
    co_await engine_.wait_for_room();
    co_await recorder_.wait_for_room();
    auto sorted = sort(batch);
    if (!sorted.states.empty())
        co_await rules_.put_states(std::move(sorted.states));
    if (!sorted.dead_letters.empty())
        co_await dead_letters_.send(std::move(sorted.dead_letters));

    if (sorted.events.empty())
        co_return;
    events_.Increment(static_cast<double>(sorted.events.size()));
    observe_ages(sorted.events);
    std::vector<account_id> accounts;
    accounts.reserve(sorted.events.size());
    for (const auto& entry : sorted.events)
        accounts.push_back(entry.event.account);
    if (co_await store_with_cached(sorted.events, accounts)) {
        co_await record(recorded_of(sorted.events), batch);
        co_return;
    }
    // Nothing was stored by cached configurations: route by the current ones.
    const auto configs = co_await configs_.current(std::move(accounts));
    choose_routes(sorted.events, configs);
    auto recorded = recorded_of(sorted.events);
    std::erase_if(sorted.events, [](const routed_event& entry) { return !entry.goes_anywhere(); });
    if (!sorted.events.empty())
        co_await store_routed(std::move(sorted.events));
    co_await record(std::move(recorded), batch);
}

awaitable<void> event_ingest::store_routed(std::vector<routed_event> events)
{
    const config_versions any;
    const auto refused = co_await try_storing(1, [&] { return store(events, any); });
    if (!refused)
        co_return;
    log::warning("batch of events refused, storing them one by one",
                 {{"events", events.size()}, {"reason", *refused}});
    co_await store_one_by_one(std::move(events));
}

void event_ingest::observe_ages(const std::vector<routed_event>& events)
{
    const auto now = host_.clock().now();
    for (const auto& each : events)
        if (each.event.kind == event_kind::email_received)
            email_to_event_.Observe(
                std::chrono::duration<double>(now - each.event.occurred_at).count());
}

event_ingest::sorted_batch event_ingest::sort(const std::vector<kafka::record>& batch) const
{
    sorted_batch sorted;
    for (const auto& record : batch) {
        if (record.header("ce_type").value_or(record.topic) == events::topics::account_state) {
            auto state = events::read_account_state(record);
            if (state)
                sorted.states.push_back(std::move(*state));
            else // The compacted topic has no dead letters: the account's next state repairs it.
                log::error("account state cannot be read",
                           {{"offset", record.offset}, {"reason", state.error().message}});
            continue;
        }
        auto event = decode(record);
        if (!event) {
            log::warning("event cannot be read", {{"topic", record.topic},
                                                  {"offset", record.offset},
                                                  {"reason", event.error().message}});
            sorted.dead_letters.push_back(
                events::make_dead_letter(record, consumer_name, event.error().message));
            continue;
        }
        routed_event entry;
        entry.source = &record;
        entry.event = std::move(*event);
        entry.span = begin_process(host_, from_, record, entry.event.id);
        // Deliveries are parts of this work.
        if (entry.span.context().is_valid())
            entry.event.traceparent = entry.span.context().span.text();
        sorted.events.push_back(std::move(entry));
    }
    return sorted;
}

void event_ingest::choose_routes(std::vector<routed_event>& events,
                                 const config_cache::configs& configs) const
{
    const auto now = host_.clock().now();
    for (auto& entry : events) {
        entry.routes.clear();
        entry.rules.clear();
        entry.is_recorded = false;
        const auto config = configs.find(entry.event.account);
        if (config == configs.end())
            continue;
        trace::span span;
        if (entry.span.is_recording())
            span = host_.tracer().begin("match rules", trace::span_kind::internal,
                                        entry.span.context());
        const auto mail = mail_of(entry.event);
        entry.routes = config->second->choose_routes(entry.event.kind, mail ? &*mail : nullptr, now,
                                                     &entry.rules);
        span.set("tempinbox.rules", entry.rules.size());
        span.set("tempinbox.webhooks", entry.routes.size());
        entry.is_recorded = config->second->is_recorded();
        if (entry.payload.empty() && (entry.is_recorded || !entry.routes.empty()))
            entry.payload = make_payload(entry.event);
    }
}

std::vector<new_feed_event> event_ingest::recorded_of(const std::vector<routed_event>& events)
{
    std::vector<new_feed_event> recorded;
    for (const auto& entry : events) {
        if (!entry.is_recorded)
            continue;
        new_feed_event made;
        made.id = entry.event.id;
        made.account = entry.event.account;
        made.inbox = inbox_of(entry.event);
        made.kind = entry.event.kind;
        made.occurred_at = entry.event.occurred_at;
        made.body = entry.payload;
        recorded.push_back(std::move(made));
    }
    return recorded;
}

event_ingest::plan event_ingest::make_plan(const std::vector<routed_event>& events)
{
    plan planned;
    const auto now = host_.clock().now();
    std::map<delivery_key, bool> seen; // a producer may have sent an event twice
    for (const auto& entry : events) {
        if (!entry.rules.empty())
            planned.routings.push_back({entry.event.id, entry.event.account, entry.rules});
        if (entry.routes.empty())
            continue;
        auto outgoing = std::make_shared<outgoing_event>();
        outgoing->id = entry.event.id;
        outgoing->body = entry.payload;
        outgoing->traceparent = entry.event.traceparent;

        new_event stored;
        stored.id = entry.event.id;
        stored.account = entry.event.account;
        stored.kind = entry.event.kind;
        stored.occurred_at = entry.event.occurred_at;
        stored.body = outgoing->body;
        stored.traceparent = outgoing->traceparent;
        planned.events.push_back(std::move(stored));

        for (const auto& chosen : entry.routes) {
            const delivery_key key{entry.event.id, chosen.to->id};
            if (!seen.emplace(key, true).second)
                continue;
            new_delivery delivery;
            delivery.event = key.event;
            delivery.webhook = key.webhook;
            delivery.account = entry.event.account;
            delivery.rules = chosen.rules;
            engine_.note_renewal(chosen.to->id, chosen.to->renewed_at);
            if (chosen.is_skipped) {
                delivery.how = new_delivery::start::skipped;
            } else if (engine_.reserve(key.webhook, queue_kind::first)) {
                delivery.how = new_delivery::start::leased;
                delivery_job job;
                job.event = outgoing;
                job.to = chosen.to;
                job.lease = planned.lease;
                job.lease_end = planned.lease_end;
                job.began = now;
                planned.jobs.emplace(key, std::move(job));
            } else {
                delivery.wait = engine_.closed_for(key.webhook);
            }
            planned.deliveries.push_back(std::move(delivery));
        }
    }
    return planned;
}

// If all configurations are cached, this saves the round trip that compares their versions: the
// insert compares them itself. False: nothing was stored; the caller must route with the current
// configurations.
awaitable<bool> event_ingest::store_with_cached(std::vector<routed_event>& events,
                                                const std::vector<account_id>& accounts)
{
    const auto configs = configs_.cached(accounts);
    if (!configs)
        co_return false;
    choose_routes(events, *configs);
    if (std::none_of(events.begin(), events.end(),
                     [](const routed_event& entry) { return entry.goes_anywhere(); }))
        co_return false;
    config_versions versions;
    for (const auto& [account, config] : *configs)
        versions.emplace_back(account, config->version());
    try {
        co_return co_await store(events, versions);
    } catch (const dependency_error&) {
        throw;
    } catch (const std::exception& error) {
        // The caller stores the batch with the current configurations, and handles that refusal.
        log::info("batch of events refused, trying it once more",
                  {{"events", events.size()}, {"reason", error.what()}});
    }
    co_return false;
}

// False: a configuration is newer than the given version, and nothing was stored.
awaitable<bool> event_ingest::store(const std::vector<routed_event>& events,
                                    const config_versions& versions)
{
    auto planned = make_plan(events);
    std::optional<std::vector<delivery_key>> leased;
    std::exception_ptr failed;
    try {
        leased = co_await deliveries_.insert(planned.events, planned.deliveries, planned.lease,
                                             planned.routings, versions);
    } catch (...) {
        // The reservations are released first, whatever was thrown.
        failed = std::current_exception();
    }
    if (!leased)
        release_reservations(planned);
    if (failed)
        std::rethrow_exception(failed);
    if (leased)
        start(planned, *leased);
    co_return leased.has_value();
}

// Only events that the database refuses go to the dead letters.
awaitable<void> event_ingest::store_one_by_one(std::vector<routed_event> events)
{
    const config_versions any;
    std::vector<kafka::message> refused;
    for (auto& entry : events) {
        const auto* source = entry.source;
        std::vector<routed_event> alone;
        alone.push_back(std::move(entry));
        const auto reason = co_await try_storing(attempts_alone, [&] { return store(alone, any); });
        if (!reason)
            continue;
        log::error("event cannot be stored",
                   {{"topic", source->topic}, {"offset", source->offset}, {"reason", *reason}});
        refused.push_back(events::make_dead_letter(*source, consumer_name, *reason));
    }
    if (!refused.empty())
        co_await dead_letters_.send(std::move(refused));
}

// Only events that the database refuses go to the dead letters.
awaitable<void> event_ingest::record(std::vector<new_feed_event> events,
                                     const std::vector<kafka::record>& batch)
{
    const auto refused = co_await try_storing(1, [&] { return feeds_.record(events); });
    if (!refused)
        co_return;
    log::warning("batch of events not recorded, recording them one by one",
                 {{"events", events.size()}, {"reason", *refused}});
    std::vector<kafka::message> letters;
    for (const auto& event : events) {
        const std::vector<new_feed_event> alone(1, event);
        const auto reason =
            co_await try_storing(attempts_alone, [&] { return feeds_.record(alone); });
        if (!reason)
            continue;
        log::error("event cannot be recorded",
                   {{"event_id", event.id.text()}, {"reason", *reason}});
        const auto id = event.id.text();
        for (const auto& record : batch)
            if (record.header("ce_id") == id) {
                letters.push_back(events::make_dead_letter(record, consumer_name, *reason));
                break;
            }
    }
    if (!letters.empty())
        co_await dead_letters_.send(std::move(letters));
}

void event_ingest::start(plan& planned, const std::vector<delivery_key>& leased)
{
    for (const auto& key : leased) {
        const auto job = planned.jobs.find(key);
        if (job == planned.jobs.end())
            continue;
        engine_.submit(std::move(job->second));
        planned.jobs.erase(job);
    }
    // What is left was stored before.
    release_reservations(planned);
    for (const auto& delivery : planned.deliveries)
        if (delivery.how == new_delivery::start::waiting && delivery.wait.count() == 0)
            engine_.note_backlog({delivery.account, delivery.webhook, queue_kind::first});
}

void event_ingest::release_reservations(const plan& planned)
{
    for (const auto& [key, job] : planned.jobs)
        engine_.release(key.webhook, queue_kind::first);
}

} // namespace tempinbox::webhooks
