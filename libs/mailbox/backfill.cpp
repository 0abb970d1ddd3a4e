#include "mailbox/backfill.hpp"

#include "common/events/events.hpp"
#include "common/outbox/swept_rows.hpp"
#include "common/postgres/column.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/inbox_state_rows.hpp"
#include "mailbox/past_events.hpp"
#include "mailbox/row_position.hpp"

namespace tempinbox::mailbox {
namespace {

using postgres::column;

constexpr const char* begin = R"(
INSERT INTO mailbox.backfills AS b (event_type, to_topic, since, until)
VALUES ($1, $2, mailbox.from_micros($3), coalesce(mailbox.from_micros($4), now()))
ON CONFLICT (event_type, to_topic, since) DO UPDATE
SET until = CASE WHEN $5::boolean THEN excluded.until ELSE b.until END,
    position = CASE WHEN $5 THEN '' ELSE b.position END,
    written = CASE WHEN $5 THEN 0 ELSE b.written END,
    skipped = CASE WHEN $5 THEN 0 ELSE b.skipped END,
    finished_at = CASE WHEN $5 THEN NULL ELSE b.finished_at END
RETURNING position, written, skipped, finished_at IS NOT NULL AS is_finished,
    mailbox.to_micros(until) AS until)";

constexpr const char* save = R"(
UPDATE mailbox.backfills
SET position = $4, written = $5, skipped = $6,
    finished_at = CASE WHEN $7::boolean THEN clock_timestamp() END
WHERE event_type = $1 AND to_topic = $2 AND since = mailbox.from_micros($3))";

// An email's id is of its time; ten minutes allow for clocks that differ. It leaves out partitions.
// No id is of a time before 1970.
const std::string list_emails = "SELECT " + past_email_columns() + R"(
FROM mailbox.emails
WHERE (account_id, email_id) > ($1::uuid, $2::uuid)
    AND email_id >= mailbox.lowest_uuid(
        greatest(mailbox.from_micros($3) - interval '10 minutes', to_timestamp(0)))
    AND email_id < mailbox.lowest_uuid(mailbox.from_micros($4) + interval '10 minutes')
ORDER BY account_id, email_id LIMIT $5)";

const std::string list_inboxes = "SELECT " + past_inbox_columns() + R"(
FROM mailbox.inboxes
WHERE (account_id, inbox_id) > ($1::uuid, $2::uuid)
ORDER BY account_id, inbox_id LIMIT $3)";

// The time in which events are wanted.
struct period
{
    time_point since;
    time_point until;

    bool holds(time_point time) const { return time >= since && time < until; }
};

// Of an event of an inbox, whose time is in a column.
void add_past(backfill_batch& batch, const period& within, const char* time_column,
              std::optional<outbox::row> (*make)(const pqxx::row&), const pqxx::row& row)
{
    if (!within.holds(column<time_point>(row, time_column)))
        return;
    auto event = make(row);
    if (event)
        batch.events.push_back(std::move(*event));
    else
        ++batch.progress.skipped;
}

void add_state(backfill_batch& batch, const period& within, const pqxx::row& row)
{
    if (within.holds(column<time_point>(row, "created")))
        batch.events.push_back(make_current_state_event(row));
}

void add(backfill_batch& batch, const std::string& type, const period& within, const pqxx::row& row)
{
    if (type == events::topics::inbox_created)
        add_past(batch, within, "created", make_past_created_event, row);
    else if (type == events::topics::inbox_expired && !column<bool>(row, "is_live"))
        add_past(batch, within, "expired", make_past_expired_event, row);
    else if (type == events::topics::inbox_state)
        add_state(batch, within, row);
    else if (type == events::topics::email_received &&
             within.holds(column<time_point>(row, "received")))
        batch.events.push_back(make_past_email_event(row));
}

void save_progress(pqxx::work& tx, const backfill& request, const backfill_progress& progress)
{
    tx.exec_params(save, request.type, request.to_topic, to_unix_micros(request.since),
                   progress.position, progress.written, progress.skipped, progress.is_finished);
}

} // namespace

awaitable<result<backfill_progress>> begin_backfill(postgres::pool& db, backfill request,
                                                    std::optional<time_point> until, bool is_anew)
{
    return db.transact([request = std::move(request), until,
                        is_anew](pqxx::work& tx) -> result<backfill_progress> {
        std::optional<std::string> end;
        if (until)
            end = std::to_string(to_unix_micros(*until));
        const auto row = tx.exec_params1(begin, request.type, request.to_topic,
                                         to_unix_micros(request.since), or_null(end), is_anew);
        backfill_progress progress;
        progress.until = column<time_point>(row, "until");
        if (until && *until != progress.until)
            return failure{errc::conflict, "this backfill was begun until " +
                                               to_iso8601(progress.until) +
                                               ": --until must be the same, or absent"};
        progress.position = column<std::string>(row, "position");
        progress.written = column<std::int64_t>(row, "written");
        progress.skipped = column<std::int64_t>(row, "skipped");
        progress.is_finished = column<bool>(row, "is_finished");
        return progress;
    });
}

awaitable<backfill_batch> read_backfill(postgres::pool& db, backfill request,
                                        backfill_progress progress, int limit)
{
    return db.transact([request = std::move(request), progress = std::move(progress),
                        limit](pqxx::work& tx) {
        backfill_batch batch;
        batch.progress = progress;
        const period within{request.since, progress.until};
        const bool is_mail = request.type == events::topics::email_received;
        const auto [account, id] = split_position(progress.position);
        const auto rows =
            is_mail ? tx.exec_params(list_emails, account, id, to_unix_micros(within.since),
                                     to_unix_micros(within.until), limit)
                    : tx.exec_params(list_inboxes, account, id, limit);
        for (const auto& row : rows)
            add(batch, request.type, within, row);
        if (!rows.empty()) {
            const auto last = rows.back();
            batch.progress.position = column<std::string>(last, "account_id") + "/" +
                                      column<std::string>(last, is_mail ? "email_id" : "inbox_id");
        }
        batch.progress.written += static_cast<std::int64_t>(batch.events.size());
        batch.progress.is_finished = static_cast<int>(rows.size()) < limit;
        return batch;
    });
}

awaitable<void> save_backfill(postgres::pool& db, backfill request, backfill_progress progress)
{
    return db.transact([request = std::move(request), progress = std::move(progress)](
                           pqxx::work& tx) { save_progress(tx, request, progress); });
}

awaitable<void> queue_backfill(postgres::pool& db, backfill request, backfill_batch batch)
{
    return db.transact([request = std::move(request), batch = std::move(batch)](pqxx::work& tx) {
        auto rows = batch.events;
        for (auto& row : rows)
            row.message = events::make_backfill(row, request.to_topic);
        outbox::insert_for_sweep(tx, schema, "tempinboxctl", rows);
        save_progress(tx, request, batch.progress);
    });
}

} // namespace tempinbox::mailbox
