#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/storage/event_kind.hpp"

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// How far a reader of a feed is: the events up to the position are behind it.
struct feed_position
{
    int epoch = 1;
    std::int64_t position = 0;

    friend bool operator==(const feed_position&, const feed_position&) = default;
};

struct new_feed_event
{
    event_id id;
    account_id account;
    inbox_id inbox;
    event_kind kind = event_kind::email_received;
    time_point occurred_at;
    std::string body;
};

// An event that got a position.
struct recorded_event
{
    event_id id;
    account_id account;
    feed_position at;
};

struct recording
{
    std::vector<recorded_event> events;
    std::chrono::microseconds waited{0}; // until the accounts' locks were held
};

// Where a feed begins and ends: its earliest event is the one behind `earliest`.
struct feed_bounds
{
    feed_position earliest;
    feed_position latest;
};

struct feed_event
{
    std::int64_t position = 0;
    event_id id;
    inbox_id inbox;
    event_kind kind = event_kind::email_received;
    std::optional<std::string> body; // absent if a filter left the event out
};

// What a statement saw of a feed at one moment.
struct feed_state
{
    bool is_recording = true;
    bool is_read_long_ago = false; // touch() is due
    int epoch = 1;
    int previous_epoch = 0;
    std::int64_t epoch_position = 0; // the last position of the epoch before
    std::int64_t last = 0;           // the highest position given so far
    std::vector<feed_event> rows;    // in the order of their positions
};

// Which events a reader wants, how many of them, and how many are looked at.
struct feed_filter
{
    event_set kinds = event_set::all();
    std::optional<inbox_id> inbox;
    int limit = 100;
    int max_rows = 100;
};

struct account_position
{
    account_id account;
    feed_position latest;
};

struct found_event
{
    inbox_id inbox;
    std::int64_t position = 0;
};

// The feeds of accounts: each of their events once, at dense positions that become visible in their
// order. Throws when PostgreSQL cannot be reached.
class feed_repository
{
public:
    explicit feed_repository(postgres::pool& db);

    // Switches the feed on, if it is off: every event stored after the answer gets a position. What
    // happened while it was off leaves a hole. Permission_denied for a deleted account.
    awaitable<result<feed_bounds>> open(plans::account_state account);
    // Gives positions to those events of recorded accounts that have none yet.
    awaitable<recording> record(const std::vector<new_feed_event>& events);

    // The rows behind a position; nullopt if there is no feed.
    awaitable<std::optional<feed_state>> read(account_id account, std::int64_t position,
                                              feed_filter wanted);
    // Notes that somebody reads the feed.
    awaitable<void> touch(account_id account);
    awaitable<std::optional<found_event>> find_event(account_id account, event_id id);
    // The position of the first event recorded at `since` or later.
    awaitable<std::optional<std::int64_t>> find_position(account_id account, time_point since);
    // Accounts without a feed are left out.
    awaitable<std::vector<account_position>> find_latest(const std::vector<account_id>& accounts);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
