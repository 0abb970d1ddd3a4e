#pragma once

#include "common/core/token_bucket.hpp"

#include <chrono>
#include <cstddef>

namespace tempinbox::outbox {

// When committed events are published to Kafka (docs/decisions/0008-events-go-out-in-steps.md).
// Each publish costs the broker a request for every partition in it and wakes every reader, whether
// it carries one event or hundreds. So a few events a second go at once, many in batches, with a
// longer delay the more there are, and the longer Kafka takes: where CPU is scarce, short steps
// would take it from what makes the events, and fewer events would make the steps shorter still.
// Up to 2,000 events a second of one process the delay is short enough for the objective of
// docs/events/contract.md, "Freshness", on a machine that has CPU to spare.
class publish_linger
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    // Events a second that go at once; a commit with more than a burst counts as a burst, since
    // there are only so many partitions.
    static constexpr double immediate_per_second = 100;
    static constexpr double immediate_burst = 20;
    static constexpr std::chrono::milliseconds min_delay{20};
    static constexpr std::chrono::milliseconds max_delay{100}; // from 6,000 events a second on

    explicit publish_linger(time_point now);

    // Whether the events of a commit may go at once. Call it for every commit.
    bool note_commit(std::size_t events, time_point now);
    void note_publish(std::size_t events, time_point now);
    // How long it took until the outcome of all events of a publish was known.
    void note_acknowledged(std::chrono::steady_clock::duration took);
    // How long to batch events that may not go at once.
    std::chrono::milliseconds delay() const;

private:
    token_count<time_point> allowance_; // of events; below zero after a large commit
    double events_per_second_ = 0;      // recent average
    std::chrono::duration<double, std::milli> acknowledged_in_{0}; // recent average
    time_point published_at_;
};

} // namespace tempinbox::outbox
