#pragma once

#include "webhook-dispatcher/storage/event_kind.hpp"

#include "common/core/ids.hpp"
#include "common/core/time.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// What an account sees of a delivery: waiting or in flight, accepted by the receiver, or given up.
enum class delivery_status { pending, succeeded, failed };

std::string_view to_string(delivery_status status);
result<delivery_status> parse_delivery_status(std::string_view text);
// Of a finished delivery's `state`, or of "pending"; throws on any other.
delivery_status status_of(std::string_view state);

// One request and its result.
struct logged_attempt
{
    time_point at;
    std::chrono::milliseconds took{0};
    int status = 0; // 0: no status line came
    std::string error;
    std::string response_body;
};

// A delivery with its attempts, oldest first.
struct logged_delivery
{
    event_id event;
    webhook_id webhook;
    event_kind kind = event_kind::email_received;
    delivery_status status = delivery_status::pending;
    std::vector<logged_attempt> attempts;
    std::optional<time_point> next_attempt_at;
    time_point created_at;
    std::vector<rule_id> rules;
};

// A page of the log, by the time of the events.
struct log_page
{
    std::vector<logged_delivery> deliveries;
    std::optional<event_id> next; // the next page begins after this event
};

} // namespace tempinbox::webhooks
