#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace tempinbox::webhooks {

// The result of one exchange with a receiver.
struct exchange_result
{
    enum class kind {
        answered,        // a whole response
        cut_short,       // a status line, then too much, too little or malformed data
        timed_out,       // before the response was complete
        no_such_host,    // the name does not exist
        refused_address, // the name resolves to an address that may not be dialled
        connect_failed,  // refused, reset, or nothing there
        tls_failed,
        closed,          // no byte of a response
        malformed,       // bytes, but no status line
        resolver_failed, // from here on our own fault, not the receiver's
        network_down
    };

    kind what = kind::answered;
    unsigned status = 0; // 0: no status line came
    std::optional<std::string> retry_after;
    std::string detail; // for people, without addresses
};

// The attempt that had this result.
struct attempt_facts
{
    event_id event;
    webhook_id webhook;
    int number = 1; // of this attempt, 1 … attempt_limit
    time_point now;
    time_point delivery_began; // when the delivery became due for the first time
};

// What becomes of the delivery.
struct delivery_decision
{
    enum class step {
        succeed,
        retry,   // counted; again after `wait`
        park,    // not counted; again after `wait`
        exhaust, // that was the last attempt
        abort    // no further attempt makes sense
    };

    step next = step::succeed;
    std::chrono::milliseconds wait{0};
    double breaker_weight = 0; // 0 with a failure: says nothing about the receiver's health
    bool is_failure = false;
    std::string error;             // shown with the attempt; empty if there is nothing to say
    std::string disables_endpoint; // why the webhook is switched off; empty: it is not
};

// The whole table is in docs/reference/webhook-failures.md.
delivery_decision judge(const exchange_result& result, const attempt_facts& attempt);

} // namespace tempinbox::webhooks
