#include "webhook-dispatcher/storage/feed_repository.hpp"

#include "common/postgres/session.hpp"
#include "webhook-dispatcher/storage/config_change.hpp"

#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

using postgres::column;
using postgres::run_autocommit;

// The configuration's row is locked: nobody switches the feed on or off meanwhile. No event fills
// the position that is left out, so a place from before the pause is one that is no longer there.
// A place of a feed that a restore lost is of none of the epochs of the one that is opened in its
// place.
constexpr postgres::statement open_feed{"feeds_open", R"(
INSERT INTO webhooks.feeds AS known (account_id, server, epoch)
VALUES ($1::uuid, webhooks.feed_server(), webhooks.feed_epoch())
ON CONFLICT (account_id) DO UPDATE SET is_recording = true, read_at = clock_timestamp(),
    position_at = greatest(known.position_at, clock_timestamp()),
    last_position = 1 + greatest(known.last_position, (
        SELECT e.position FROM webhooks.feed_events AS e
        WHERE e.account_id = known.account_id AND e.recorded_at >= known.position_at
        ORDER BY e.position DESC LIMIT 1))
WHERE NOT known.is_recording)"};

constexpr postgres::statement find_bounds{"feeds_find_bounds", R"(
SELECT f.is_recording, f.epoch, greatest(f.last_position, (
        SELECT e.position FROM webhooks.feed_events AS e
        WHERE e.account_id = f.account_id AND e.recorded_at >= f.position_at
        ORDER BY e.position DESC LIMIT 1)) AS last,
    (SELECT e.position FROM webhooks.feed_events AS e WHERE e.account_id = f.account_id
        ORDER BY e.position LIMIT 1) AS first
FROM webhooks.feeds AS f WHERE f.account_id = $1::uuid)"};

constexpr postgres::statement record_events{"feeds_record", R"(
SELECT of_event AS event_id, of_account AS account_id, in_epoch AS epoch, at_position AS position,
    waited
FROM webhooks.record_events($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::bytea[],
    timestamptz 'epoch' + $6 * interval '1 microsecond'))"};

// One statement, so that the floor, the highest position and the rows are of one moment. OFFSET 0
// has the highest position looked up once, not for each row. The running count ends the look before
// the match behind the limit, so no more bodies are read than a page may have.
constexpr postgres::statement read_events{"feeds_read", R"(
SELECT f.is_recording, f.read_at < clock_timestamp() - interval '1 hour' AS is_read_long_ago,
    f.epoch, f.previous_epoch, f.epoch_position, f.last, r.position, r.event_id, r.inbox_id, r.type,
    CASE WHEN r.is_match THEN convert_from(r.body, 'UTF8') END AS body
FROM (
    SELECT known.*, greatest(known.last_position, (
        SELECT e.position FROM webhooks.feed_events AS e
        WHERE e.account_id = known.account_id AND e.recorded_at >= known.position_at
        ORDER BY e.position DESC LIMIT 1)) AS last
    FROM webhooks.feeds AS known WHERE known.account_id = $1::uuid OFFSET 0) AS f
LEFT JOIN LATERAL (
    SELECT m.*, count(*) FILTER (WHERE m.is_match) OVER (ORDER BY m.position) AS matches
    FROM (
        SELECT e.position, e.event_id, e.inbox_id, e.type, e.body,
            e.type = ANY ($4::int[]) AND ($5 = '' OR e.inbox_id = nullif($5, '')::uuid) AS is_match
        FROM webhooks.feed_events AS e
        WHERE e.account_id = f.account_id AND e.position > $2
        ORDER BY e.position LIMIT $3) AS m) AS r ON r.matches <= $6
ORDER BY r.position)"};

constexpr postgres::statement touch_feed{"feeds_touch", R"(
UPDATE webhooks.feeds SET read_at = clock_timestamp() WHERE account_id = (
    SELECT account_id FROM webhooks.feeds
    WHERE account_id = $1::uuid AND read_at < clock_timestamp() - interval '1 hour'
    FOR UPDATE SKIP LOCKED))"};

// By the event alone: with the account, too, a plan might read all that the account has.
constexpr postgres::statement find_event_of_feed{"feeds_find_event", R"(
SELECT account_id, inbox_id, position FROM webhooks.feed_events WHERE event_id = $1::uuid)"};

constexpr postgres::statement find_position_since{"feeds_find_position", R"(
SELECT webhooks.find_feed_position($1::uuid,
    timestamptz 'epoch' + $2 * interval '1 microsecond') AS position)"};

constexpr postgres::statement find_latest_of{"feeds_find_latest", R"(
SELECT f.account_id, f.epoch, greatest(f.last_position, (
        SELECT e.position FROM webhooks.feed_events AS e
        WHERE e.account_id = f.account_id AND e.recorded_at >= f.position_at
        ORDER BY e.position DESC LIMIT 1)) AS last
FROM webhooks.feeds AS f WHERE f.account_id = ANY ($1::uuid[]))"};

// A repeated record was recorded before it came again, by a clock that is less than this ahead.
constexpr std::chrono::hours clock_difference{1};
// No feed has events that are older, whatever time a record names.
constexpr std::chrono::hours kept_at_most{120};

std::int32_t to_number(event_kind kind)
{
    return static_cast<std::int32_t>(kind) + 1;
}

event_kind to_kind(int number)
{
    for (const auto kind : all_event_kinds)
        if (to_number(kind) == number)
            return kind;
    throw std::runtime_error("a feed has an event of type " + std::to_string(number));
}

std::vector<std::int32_t> numbers_of(const event_set& kinds)
{
    std::vector<std::int32_t> numbers;
    for (const auto kind : all_event_kinds)
        if (kinds.contains(kind))
            numbers.push_back(to_number(kind));
    return numbers;
}

// The columns that record_events takes.
struct event_columns
{
    std::vector<event_id> ids;
    std::vector<account_id> accounts;
    std::vector<inbox_id> inboxes;
    std::vector<std::int32_t> types;
    std::vector<std::string> bodies;

    explicit event_columns(const std::vector<new_feed_event>& events)
    {
        for (const auto& event : events) {
            ids.push_back(event.id);
            accounts.push_back(event.account);
            inboxes.push_back(event.inbox);
            types.push_back(to_number(event.kind));
            bodies.push_back(event.body);
        }
    }
};

std::int64_t oldest_of(const std::vector<new_feed_event>& events)
{
    const auto now = system_clock_source{}.now();
    auto oldest = now;
    for (const auto& event : events)
        oldest = std::min(oldest, event.occurred_at);
    return to_unix_micros(std::max(oldest, now - kept_at_most) - clock_difference);
}

feed_event read_row(const pqxx::row& row)
{
    feed_event read;
    postgres::read_column(row, "position", read.position);
    postgres::read_column(row, "event_id", read.id);
    postgres::read_column(row, "inbox_id", read.inbox);
    read.kind = to_kind(column<int>(row, "type"));
    postgres::read_column(row, "body", read.body);
    return read;
}

feed_state read_state(const pqxx::result& rows)
{
    feed_state state;
    postgres::read_column(rows[0], "is_recording", state.is_recording);
    postgres::read_column(rows[0], "is_read_long_ago", state.is_read_long_ago);
    postgres::read_column(rows[0], "epoch", state.epoch);
    postgres::read_column(rows[0], "previous_epoch", state.previous_epoch);
    postgres::read_column(rows[0], "epoch_position", state.epoch_position);
    postgres::read_column(rows[0], "last", state.last);
    for (const auto& row : rows)
        if (!row["position"].is_null())
            state.rows.push_back(read_row(row));
    return state;
}

feed_bounds read_bounds(const pqxx::row& row)
{
    feed_bounds bounds;
    postgres::read_column(row, "epoch", bounds.latest.epoch);
    postgres::read_column(row, "last", bounds.latest.position);
    bounds.earliest = bounds.latest;
    if (const auto first = column<std::optional<std::int64_t>>(row, "first"))
        bounds.earliest.position = *first - 1;
    return bounds;
}

} // namespace

feed_repository::feed_repository(postgres::pool& db) : db_(db)
{
    prepare_config_changes(db_);
    for (const auto& statement : {open_feed, find_bounds, record_events, read_events, touch_feed,
                                  find_event_of_feed, find_position_since, find_latest_of})
        db_.prepare(statement);
}

awaitable<result<feed_bounds>> feed_repository::open(plans::account_state account)
{
    return db_.transact([account = std::move(account)](pqxx::work& tx) -> result<feed_bounds> {
        const auto owner = account.account.text();
        const auto known = postgres::exec_prepared(tx, find_bounds.name, owner);
        if (!known.empty() && column<bool>(known[0], "is_recording")) {
            postgres::exec_prepared0(tx, touch_feed.name, owner);
            return read_bounds(known[0]);
        }
        begin_config_change(tx, account.account);
        if (update_account_state(tx, account).is_deleted)
            return failure{errc::permission_denied, "The account was deleted",
                           error_reason::account_deleted};
        postgres::exec_prepared0(tx, open_feed.name, owner);
        return read_bounds(postgres::exec_prepared1(tx, find_bounds.name, owner));
    });
}

awaitable<recording> feed_repository::record(const std::vector<new_feed_event>& events)
{
    return run_autocommit<recording>(
        db_, [given = event_columns(events), oldest = oldest_of(events)](pqxx::nontransaction& tx) {
            const std::vector<postgres::bytea> bodies(given.bodies.begin(), given.bodies.end());
            recording done;
            for (const auto& row : postgres::exec_prepared(
                     tx, record_events.name, postgres::to_array(given.ids),
                     postgres::to_array(given.accounts), postgres::to_array(given.inboxes),
                     postgres::to_array(given.types), postgres::to_array(bodies), oldest)) {
                recorded_event recorded;
                postgres::read_column(row, "event_id", recorded.id);
                postgres::read_column(row, "account_id", recorded.account);
                postgres::read_column(row, "epoch", recorded.at.epoch);
                postgres::read_column(row, "position", recorded.at.position);
                done.events.push_back(recorded);
                done.waited = std::chrono::microseconds{column<std::int64_t>(row, "waited")};
            }
            return done;
        });
}

awaitable<std::optional<feed_state>>
feed_repository::read(account_id account, std::int64_t position, feed_filter wanted)
{
    using maybe_state = std::optional<feed_state>;
    return run_autocommit<maybe_state>(
        db_, [account, position, wanted](pqxx::nontransaction& tx) -> maybe_state {
            const auto inbox = wanted.inbox ? wanted.inbox->text() : std::string();
            const auto rows = postgres::exec_prepared(
                tx, read_events.name, account.text(), position, wanted.max_rows,
                postgres::to_array(numbers_of(wanted.kinds)), inbox, wanted.limit);
            if (rows.empty())
                return std::nullopt;
            return read_state(rows);
        });
}

awaitable<void> feed_repository::touch(account_id account)
{
    return db_.run([account](pqxx::connection& connection) {
        pqxx::nontransaction tx(connection);
        postgres::exec_prepared0(tx, touch_feed.name, account.text());
    });
}

awaitable<std::optional<found_event>> feed_repository::find_event(account_id account, event_id id)
{
    using maybe_found = std::optional<found_event>;
    return run_autocommit<maybe_found>(db_, [account, id](pqxx::nontransaction& tx) -> maybe_found {
        for (const auto& row : postgres::exec_prepared(tx, find_event_of_feed.name, id.text()))
            if (column<account_id>(row, "account_id") == account)
                return found_event{column<inbox_id>(row, "inbox_id"),
                                   column<std::int64_t>(row, "position")};
        return std::nullopt;
    });
}

awaitable<std::optional<std::int64_t>> feed_repository::find_position(account_id account,
                                                                      time_point since)
{
    using maybe_position = std::optional<std::int64_t>;
    return run_autocommit<maybe_position>(db_, [account, since](pqxx::nontransaction& tx) {
        return column<maybe_position>(postgres::exec_prepared1(tx, find_position_since.name,
                                                               account.text(),
                                                               to_unix_micros(since)),
                                      "position");
    });
}

awaitable<std::vector<account_position>>
feed_repository::find_latest(const std::vector<account_id>& accounts)
{
    return run_autocommit<std::vector<account_position>>(
        db_, [ids = postgres::to_array(accounts)](pqxx::nontransaction& tx) {
            std::vector<account_position> positions;
            for (const auto& row : postgres::exec_prepared(tx, find_latest_of.name, ids)) {
                account_position found;
                postgres::read_column(row, "account_id", found.account);
                postgres::read_column(row, "epoch", found.latest.epoch);
                postgres::read_column(row, "last", found.latest.position);
                positions.push_back(found);
            }
            return positions;
        });
}

} // namespace tempinbox::webhooks
