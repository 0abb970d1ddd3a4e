#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Which events must be in Kafka by what the database holds, and putting those that are not into the
// outbox again. Functions for `tempinboxctl events verify`; each is one transaction, and an
// unreachable PostgreSQL throws.
namespace tempinbox::mailbox {

// Events of email.received, inbox.created or inbox.expired that happened from `since` on and before
// `until`.
struct event_period
{
    std::string type;
    time_point since;
    time_point until;
};

struct expected_events
{
    std::vector<event_id> ids;
    time_point since;         // none of the ids is of an earlier time
    std::string position;     // the rows up to it are done
    std::int64_t skipped = 0; // inboxes of earlier releases, which kept no ids of their events
    bool is_finished = false;
};

// The events whose row is there and that wait in no outbox, so that they were published before this
// call: a part of them, after `position` (at first empty). Mail comes in the order of time.
awaitable<expected_events> list_expected_events(postgres::pool& db, event_period within,
                                                std::string position);

struct repaired_events
{
    std::int64_t events = 0; // of those asked for
    std::int64_t ends = 0;   // events inbox.expired that follow an inbox.created
};

// Puts events into the outbox again, as they were and under leases that have ended: a sweep of the
// services publishes them. The inbox.created of an inbox that has ended is followed by its
// inbox.expired, whether or not Kafka has that: a reader takes the inbox for live otherwise. Events
// whose row went meanwhile, or that wait in the outbox, are left out.
awaitable<repaired_events> repair_events(postgres::pool& db, std::string type,
                                         std::vector<event_id> missing);

} // namespace tempinbox::mailbox
