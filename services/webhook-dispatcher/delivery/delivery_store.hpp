#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/job.hpp"
#include "webhook-dispatcher/events/kind.hpp"

#include "common/postgres/pool.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

struct new_event
{
    event_id id;
    account_id account;
    event_kind kind = event_kind::email_received;
    time_point occurred_at;
    std::string body;
    std::string traceparent;
};

struct new_delivery
{
    enum class start {
        leased, // sent from here at once
        waiting,
        skipped // finished before it began: the endpoint is switched off
    };

    event_id event;
    webhook_id webhook;
    account_id account;
    start how = start::waiting;
    std::chrono::milliseconds wait{0};
    std::vector<rule_id> rules;
};

// Why an email went where it went.
struct new_routing
{
    event_id event;
    account_id account;
    std::vector<rule_match> rules;
};

struct delivery_key
{
    event_id event;
    webhook_id webhook;
    friend auto operator<=>(const delivery_key&, const delivery_key&) = default;
};

// Whose first tries or retries are due.
struct due_queue
{
    webhook_id webhook;
    queue_kind queue = queue_kind::first;
};

// One page of what is due, as the lanes it belongs to.
struct due_page
{
    struct position
    {
        std::int64_t run_at = 0;
        std::string event;
        std::string webhook;
    };

    std::vector<due_queue> queues;
    std::optional<position> next; // where the next page begins, when this one was full
    std::optional<std::chrono::milliseconds> until_next_due; // of what is not due yet
};

struct claim_request
{
    due_queue queue;
    std::size_t capacity = 0;
    std::uint64_t noted = 0; // of the backlog it answers
};

struct claimed_delivery
{
    event_id event;
    webhook_id webhook;
    account_id account;
    int attempts = 0;
    queue_kind queue = queue_kind::first;
    time_point began; // the first of its attempts since it was last put into the queue
    std::optional<std::string> body; // absent where the event is gone already
    std::string traceparent;
};

// Deliveries at rest: `due` holds the unfinished, `delivery` the finished, `attempt` each request
// sent. Every write after a claim is fenced by the lease. Throws when PostgreSQL cannot be reached.
class delivery_store
{
public:
    explicit delivery_store(postgres::pool& db);

    // A whole batch in one statement, leaving out what is known already; answers the leased ones
    // that are new. An event that goes nowhere may still have a routing. Nothing is stored or
    // answered where an account's configuration has another version than given.
    awaitable<std::optional<std::vector<delivery_key>>>
    insert(const std::vector<new_event>& events, const std::vector<new_delivery>& deliveries,
           uuid lease, const std::vector<new_routing>& routings = {},
           const config_versions& versions = {});

    // Which lanes have something due: a page in the order of the times, or all lanes at once, whose
    // cost grows with the number of lanes that have anything waiting instead.
    awaitable<due_page> find_due(std::optional<due_page::position> from, int page_size);
    awaitable<std::vector<due_queue>> find_all_due();
    awaitable<std::vector<claimed_delivery>> claim(const std::vector<claim_request>& requests,
                                                   uuid lease);

    // Deliveries of processes that are gone become due again; answers how many.
    awaitable<int> release_expired_leases();
    // How long the oldest waiting delivery is overdue, those to some endpoints left out.
    awaitable<std::chrono::milliseconds> oldest_due_age(std::vector<webhook_id> without = {});
    // The endpoints switched on or given another URL in the last minute, with the moment.
    awaitable<std::vector<std::pair<webhook_id, time_point>>> renewed_lately();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
