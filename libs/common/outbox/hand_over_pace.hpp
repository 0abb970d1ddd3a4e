#pragma once

#include <chrono>
#include <cstddef>

namespace tempinbox::outbox {

// When committed events are handed to Kafka. A hand-over costs the broker a request for each
// partition in it and wakes every reader, whether it carries one event or hundreds: a few events a
// second go at once, many in steps, the longer the more come.
class hand_over_pace
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    // Events that go at once; more than a burst in one commit count as a burst, for there are only
    // so many partitions.
    static constexpr double at_once_a_second = 100;
    static constexpr double at_once_in_a_burst = 20;
    static constexpr std::chrono::milliseconds shortest_step{20};
    static constexpr std::chrono::milliseconds longest_step{100}; // from 1,000 events a second on

    explicit hand_over_pace(time_point now) : allowance_at_(now), handed_over_at_(now) {}

    // Whether the events of a commit may go at once. Every commit is told.
    bool note_commit(std::size_t events, time_point now);
    void note_hand_over(std::size_t events, time_point now);
    // How long the next events gather that may not go at once.
    std::chrono::milliseconds step() const;

private:
    double allowance_ = at_once_in_a_burst; // of events; below zero after a large commit
    time_point allowance_at_;
    double events_a_second_ = 0; // as of late
    time_point handed_over_at_;
};

} // namespace tempinbox::outbox
