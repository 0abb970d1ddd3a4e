#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/runtime/host.hpp"
#include "tempinboxctl/session.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Comparing the events that the database says were published with what Kafka holds.
namespace tempinbox::ctl {

// Events younger than this are not compared: mail-ingest takes a young inbox.created at its word
// (max_creation_age in recipients.cpp), which a repaired one must not be, whatever the clocks say.
constexpr std::chrono::minutes min_event_age{5};
constexpr std::size_t max_listed_events = 1'000;

struct event_check_request
{
    std::string type; // email.received, inbox.created or inbox.expired
    std::optional<time_point> since;
    std::optional<time_point> until;
    bool repairs = false;
    std::chrono::milliseconds timeout{0}; // how long Kafka, or a full outbox, may stand still
};

struct event_check
{
    time_point since; // what was compared: inside the topic's retention
    time_point until;
    std::int64_t compared = 0;
    std::int64_t skipped = 0; // inboxes of releases that kept no ids of their events
    std::int64_t missing = 0;
    std::int64_t repaired = 0;    // of those that were missing
    std::int64_t ends = 0;        // events inbox.expired that follow a repaired inbox.created
    std::vector<event_id> listed; // the first that were missing
};

// Reads the topic from `since` on for every two million events of the database, whose ids are kept
// meanwhile (16 bytes each). invalid_argument if nothing lies in between, or if it takes a `since`
// to know what the topic still has; unavailable if Kafka does not answer.
awaitable<result<event_check>> check_events(session& suite, event_check_request request);

// Waits until mailbox.outbox has room for more rows that the services are to publish; unavailable
// if it is full for as long as `timeout`.
awaitable<result<void>> wait_for_sweeps(session& suite, std::chrono::milliseconds timeout);

} // namespace tempinbox::ctl
