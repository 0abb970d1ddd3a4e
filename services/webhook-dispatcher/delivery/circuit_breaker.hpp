#pragma once

#include <array>
#include <chrono>

namespace tempinbox::webhooks {

// Stops sending to a receiver that only fails. Opens after 5 failures in a row (by weight), or when
// at least half of 20 or more in the last minute failed; stays open 30 s, doubled each time its
// probe fails, 15 min at most; then lets one probe through. One for each endpoint and process.
class circuit_breaker
{
public:
    using time = std::chrono::steady_clock::time_point;
    enum class permit { refused, normal, probe };

    // To be called before a request is sent. A probe must be ended by one of the three calls below.
    permit acquire(time now);

    void succeeded(permit given, time now);
    void failed(permit given, double weight, time now);
    // The request said nothing about the receiver (our own fault, or not sent after all).
    void abandoned(permit given);

    // The receiver may have changed: if open, the probe may go at once.
    void probe_now(time now);

    bool is_open(time now) const { return is_tripped_ && now < open_until_; }
    // While open: when the probe may go; otherwise a time in the past.
    time open_until() const { return open_until_; }
    // Opened and not yet closed by a probe.
    bool is_tripped() const { return is_tripped_; }
    // No failure since the last success, or unused for an hour: may be evicted.
    bool is_clean(time now) const;

private:
    struct bucket
    {
        std::int64_t index = -1;
        int total = 0;
        double failed = 0;
    };

    void count(double failed, time now);
    bool fails_too_often(time now) const;
    void open(time now);

    static constexpr std::size_t bucket_count = 6;
    std::array<bucket, bucket_count> minute_{}; // ten seconds each
    double consecutive_failures_ = 0;
    bool is_tripped_ = false;
    bool is_probing_ = false;
    time last_use_{};
    time open_until_{};
    std::chrono::seconds open_for_{30};
};

} // namespace tempinbox::webhooks
