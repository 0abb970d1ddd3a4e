#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/delivery.hpp"
#include "webhook-dispatcher/storage/event_kind.hpp"
#include "webhook-dispatcher/storage/rule.hpp"

#include "common/postgres/pool.hpp"

#include <optional>
#include <string>
#include <utility>
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

// Why an email went where it went: the match of each rule.
struct new_routing
{
    event_id event;
    account_id account;
    std::vector<rule_match> rules;
};

// A page of due deliveries, given as the queues they belong to.
struct due_page
{
    struct position
    {
        std::int64_t run_at = 0;
        std::string event;
        std::string webhook;
    };

    std::vector<due_queue> queues;
    std::optional<position> next; // where the next page begins; set if this one was full
    std::optional<std::chrono::milliseconds> until_next_due; // of those not due yet
};

struct claimed_delivery
{
    event_id event;
    webhook_id webhook;
    account_id account;
    int attempts = 0;
    queue_kind queue = queue_kind::first;
    time_point began;                // when it was last queued anew; its lifetime counts from here
    std::optional<std::string> body; // absent if the event is no longer stored
    std::string traceparent;

    // A replay made it due, and it was not attempted since.
    bool is_replayed() const { return attempts == 0 && queue == queue_kind::retry; }
};

// Deliveries from an event to their outcome: `due_deliveries` holds the unfinished ones,
// `deliveries` the finished ones, `attempts` each request sent. Every write after a claim is fenced
// by the lease. Throws when PostgreSQL cannot be reached.
class queue_repository
{
public:
    explicit queue_repository(postgres::pool& db);

    // Inserts a whole batch in one statement, without deliveries that are stored already (dedup);
    // returns the new ones that are leased. An event without deliveries may still have a routing.
    // If an account's configuration has another version than given, stores nothing and returns
    // nullopt.
    awaitable<std::optional<std::vector<delivery_key>>>
    insert(const std::vector<new_event>& events, const std::vector<new_delivery>& deliveries,
           uuid lease, const std::vector<new_routing>& routings = {},
           const config_versions& versions = {});

    // Which queues have something due: find_due reads a page in the order of the due times,
    // find_all_due reads all queues at once. The cost of find_all_due grows with the number of
    // queues that have anything waiting instead.
    awaitable<due_page> find_due(std::optional<due_page::position> from, int page_size);
    awaitable<std::vector<due_queue>> find_all_due();
    awaitable<std::vector<claimed_delivery>> claim(const std::vector<claim_request>& requests,
                                                   uuid lease);

    // One statement for all: an attempt is only added, a finished delivery moves from
    // `due_deliveries` to `deliveries`, any other becomes due again. If the lease was lost, only
    // the attempt is written. Writing an outcome twice is the same as once.
    awaitable<void> write(const std::vector<delivery_outcome>& outcomes);

    // Makes deliveries of processes that are gone due again, 1,000 at most; returns how many.
    awaitable<int> release_expired_leases();
    // How long the oldest waiting delivery is overdue, except those to the endpoints in `without`.
    awaitable<std::chrono::milliseconds> oldest_due_age(std::vector<webhook_id> without = {});
    // The endpoints switched on or given another URL in the last minute, and when.
    awaitable<std::vector<std::pair<webhook_id, time_point>>> renewed_lately();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
