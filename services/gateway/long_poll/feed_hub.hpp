#pragma once

#include "common/async/periodic_task.hpp"
#include "common/async/reset_event.hpp"
#include "common/async/single_flight.hpp"
#include "common/core/awaitable.hpp"
#include "common/kafka/message.hpp"
#include "common/runtime/host.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/long_poll/feed_cursor.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// Wakes the readers of feeds in this process. Hints from feed.activity wake them; in addition the
// ends of all feeds with readers are requested once a second, hundreds in one call, so a lost hint
// costs a second and nothing else. Readers that stand at one place share what is read behind it.
// Runs on the loop.
class feed_hub
{
public:
    using clock = std::chrono::steady_clock;
    using page = std::shared_ptr<const result<webhooks::v1::ReadEventsResponse>>;

    // One reader of an account's feed. It begins before the first reading, so no hint is missed.
    class watch
    {
    public:
        watch(feed_hub& hub, account_id account);
        ~watch();
        watch(const watch&) = delete;

        // Until the feed goes beyond the place; false if the deadline passed, or the reader has to
        // end, first.
        awaitable<bool> wait_beyond(feed_position known, clock::time_point deadline);
        void end();
        bool has_ended() const { return has_ended_; }

    private:
        friend feed_hub;
        void note(feed_position latest);

        feed_hub& hub_;
        std::weak_ptr<const bool> presence_;
        account_id account_;
        feed_position latest_;
        bool has_ended_ = false;
        async::reset_event has_news_;
    };

    feed_hub(runtime::host& host, webhook_client& webhooks);
    feed_hub(const feed_hub&) = delete;

    void start();
    awaitable<void> stop();

    // Equal readings at the same time are one.
    awaitable<page> read(webhooks::v1::ReadEventsRequest request);

    // feed.activity.
    void take_events(const std::vector<kafka::record>& batch);
    // From now on every reader ends.
    void interrupt();

    std::size_t readers() const { return watches_.size(); }

private:
    static awaitable<page> read_once(webhook_client& webhooks, std::string request);
    void note(const webhooks::v1::FeedPosition& latest);
    awaitable<std::chrono::microseconds> poll_all();

    runtime::host& host_;
    webhook_client& webhooks_;
    bool is_ending_ = false;
    std::unordered_multimap<account_id, watch*> watches_;
    prometheus::Gauge& readers_;
    // During shutdown a reader may outlive this object: it sees that this pointer has expired.
    std::shared_ptr<const bool> presence_ = std::make_shared<const bool>(true);
    async::single_flight<std::string, page> readings_;
    async::periodic_task poll_task_;
};

} // namespace tempinbox::gateway
