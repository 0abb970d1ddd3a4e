#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "common/runtime/host.hpp"
#include "webhook-dispatcher/storage/feed_repository.hpp"

#include <vector>

namespace tempinbox::webhooks {

// Stores events in the feeds of their accounts, and tells gateways how far the feeds are now.
// Throws when PostgreSQL cannot be reached: the same events may be given again, each is stored
// once.
class feed_recorder
{
public:
    feed_recorder(runtime::host& host, feed_repository& feeds, kafka::producer& producer);

    awaitable<void> record(const std::vector<new_feed_event>& events);

private:
    void note(const std::vector<new_feed_event>& given, const recording& done);
    void publish(const recording& done);

    runtime::host& host_;
    feed_repository& feeds_;
    kafka::producer& producer_;
    prometheus::Counter& recorded_;
    prometheus::Counter& repeated_;
    prometheus::Histogram& lag_;
    prometheus::Histogram& lock_waits_;
};

} // namespace tempinbox::webhooks
