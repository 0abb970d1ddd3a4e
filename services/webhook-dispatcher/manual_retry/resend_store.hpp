#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/delivery_store.hpp"

#include "common/postgres/pool.hpp"

#include <optional>
#include <string>

namespace tempinbox::webhooks {

// A delivery taken under a lease to be sent by hand.
struct taken_delivery
{
    bool was_sent_before =
        false; // by the same request, whose answer was lost: nothing is to be done
    bool was_finished = false;
    int attempts = 0; // made so far
    time_point began;
    std::string body;
    std::string traceparent;
};

// What one request sent by hand came to.
struct manual_attempt
{
    event_id event;
    webhook_id webhook;
    account_id account;
    uuid lease;
    bool was_finished = false;
    bool has_succeeded = false;
    int number = 1;
    time_point at;
    std::chrono::milliseconds took{0};
    unsigned status = 0;
    std::string error;
    std::string response_body;
};

// Deliveries that are sent because somebody asks for it. While one is sent it lies in `due` under a
// lease, so that nobody else sends it and a crash leaves it to be sent once more. Throws when
// PostgreSQL cannot be reached.
class resend_store
{
public:
    explicit resend_store(postgres::pool& db);

    // Stores the event with its one delivery. Rate_limited when the webhook was tested too often.
    awaitable<result<taken_delivery>> begin_test(new_event event, webhook_id webhook, uuid lease);
    // Conflict while it is being sent; rate_limited when too many were sent by hand.
    awaitable<result<taken_delivery>> take(account_id account, webhook_id webhook, event_id event,
                                           uuid lease);
    // A finished one ends as this request did. A pending one ends with a success; else it waits for
    // its next attempt as before.
    awaitable<void> finish(manual_attempt attempt);

    // Limits nobody has touched for a day.
    awaitable<int> purge_limits();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
