#include "webhook-dispatcher/events/feed_recorder.hpp"

#include "common/events/events.hpp"

#include <unordered_map>

namespace tempinbox::webhooks {
namespace {

prometheus::Counter& count_of(runtime::host& host, const char* outcome)
{
    return host.metrics().counter("tempinbox_feed_events_total",
                                  "Events for feeds: new ones, and those that a feed had already",
                                  {{"outcome", outcome}});
}

} // namespace

feed_recorder::feed_recorder(runtime::host& host, feed_repository& feeds, kafka::producer& producer)
    : host_(host),
      feeds_(feeds),
      producer_(producer),
      recorded_(count_of(host, "recorded")),
      repeated_(count_of(host, "repeated")),
      lag_(host.metrics().histogram("tempinbox_feed_lag_seconds",
                                    "From an event to its storing in its feed",
                                    metrics::wait_buckets())),
      lock_waits_(host.metrics().histogram("tempinbox_feed_lock_wait_seconds",
                                           "Until a batch of events held its feeds' locks",
                                           metrics::latency_buckets()))
{}

awaitable<void> feed_recorder::record(const std::vector<new_feed_event>& events)
{
    if (events.empty())
        co_return;
    const auto done = co_await feeds_.record(events);
    note(events, done);
    publish(done);
}

void feed_recorder::note(const std::vector<new_feed_event>& given, const recording& done)
{
    recorded_.Increment(static_cast<double>(done.events.size()));
    repeated_.Increment(static_cast<double>(given.size() - done.events.size()));
    if (done.events.empty())
        return;
    lock_waits_.Observe(std::chrono::duration<double>(done.waited).count());
    std::unordered_map<event_id, time_point> times;
    for (const auto& event : given)
        times.emplace(event.id, event.occurred_at);
    const auto now = host_.clock().now();
    for (const auto& event : done.events)
        lag_.Observe(std::chrono::duration<double>(now - times.at(event.id)).count());
}

// Nobody asks what became of these hints: whoever waits looks once a second all the same.
void feed_recorder::publish(const recording& done)
{
    std::unordered_map<account_id, feed_position> latest;
    for (const auto& event : done.events)
        latest[event.account] = event.at;
    for (const auto& [account, at] : latest) {
        v1::FeedPosition message;
        message.set_account_id(account.text());
        message.set_epoch(at.epoch);
        message.set_position(at.position);
        producer_.send(events::make_activity(message), [](bool) {});
    }
}

} // namespace tempinbox::webhooks
