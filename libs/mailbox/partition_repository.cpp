#include "mailbox/partition_repository.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

#include <map>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

// The exclusive locks use NOWAIT. This timeout is for locks that block nobody else, such as the
// advisory lock of everyone who makes partitions.
constexpr const char* short_lock_wait = "SET LOCAL lock_timeout = '200ms'";

constexpr const char* ensure_days = R"(
    SELECT mailbox.ensure_email_day((now() AT TIME ZONE 'UTC')::date + n)
    FROM generate_series(0, $1::int) AS n)";

// Steps along the index from hour to hour: costs the number of distinct hours, not of inboxes.
constexpr const char* missing_hours = R"(
    WITH RECURSIVE due (hour) AS (
        (SELECT date_trunc('hour', expires_at, 'UTC') FROM mailbox.inboxes
         WHERE is_live AND expires_at >= now() AND expires_at < '9000-01-01 00:00:00+00'
         ORDER BY expires_at LIMIT 1)
        UNION ALL
        SELECT (SELECT date_trunc('hour', i.expires_at, 'UTC') FROM mailbox.inboxes AS i
                WHERE i.is_live AND i.expires_at >= due.hour + interval '1 hour'
                    AND i.expires_at < '9000-01-01 00:00:00+00'
                ORDER BY i.expires_at LIMIT 1)
        FROM due WHERE due.hour IS NOT NULL),
    required (hour) AS (
        SELECT hour FROM due WHERE hour IS NOT NULL
        UNION
        SELECT date_trunc('hour', now(), 'UTC') + n * interval '1 hour'
        FROM generate_series(0, $1::int) AS n)
    SELECT mailbox.to_micros(hour) AS hour_micros FROM required
    WHERE to_regclass(
        'mailbox.bodies_' || to_char(hour AT TIME ZONE 'UTC', 'YYYYMMDD_HH24')) IS NULL
    ORDER BY hour)";

constexpr const char* ensure_hour = "SELECT mailbox.ensure_body_hour(mailbox.from_micros($1))";

// Some time after their end, so that no running transaction still writes to them.
constexpr const char* find_past = R"(
    SELECT relname, mailbox.to_micros(hour) AS hour_micros,
           hour < now() - interval '8 hours' AS is_overdue
    FROM (SELECT c.relname,
                 CASE WHEN c.relname LIKE 'bodies%'
                      THEN to_timestamp(right(c.relname, 11), 'YYYYMMDD_HH24') END AS hour
          FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
          WHERE (i.inhparent = 'mailbox.bodies'::regclass
                 AND c.relname ~ '^bodies_[0-9]{8}_[0-9]{2}$'
                 AND c.relname < 'bodies_' || to_char(
                     (now() - interval '1 hour') AT TIME ZONE 'UTC', 'YYYYMMDD_HH24'))
             OR (i.inhparent = 'mailbox.emails'::regclass
                 AND c.relname ~ '^emails_[0-9]{8}$'
                 AND c.relname < 'emails_' || to_char(
                     (now() - interval '1 day') AT TIME ZONE 'UTC', 'YYYYMMDD'))) AS ended
    ORDER BY relname)";

constexpr const char* take_partitions =
    "SELECT pg_try_advisory_xact_lock(hashtext('mailbox.partitions')) AS is_ours";

bool are_taken(pqxx::work& tx)
{
    return !column<bool>(tx.exec1(take_partitions), "is_ours");
}

bool exists(pqxx::work& tx, const std::string& table)
{
    return !tx.exec_params1("SELECT to_regclass($1) AS oid", table)["oid"].is_null();
}

// Batches go by id in index order, so that none scans the rows of earlier batches.
std::string find_last_of_batch(const std::string& table)
{
    return "SELECT body_id FROM (SELECT body_id FROM " + table +
           " WHERE body_hour = mailbox.from_micros($1) AND body_id > $2 ORDER BY body_hour, "
           "body_id LIMIT " +
           std::to_string(partition_repository::batch_size) +
           ") AS batch ORDER BY body_id DESC LIMIT 1";
}

std::string delete_batch(const std::string& table)
{
    return "DELETE FROM " + table +
           " WHERE body_hour = mailbox.from_micros($1) AND body_id > $2 AND body_id <= $3";
}

constexpr const char* find_needed = "SELECT EXISTS (SELECT 1 FROM mailbox.extended_inboxes WHERE "
                                    "body_hour <= mailbox.from_micros($1)) AS is_needed";

// Whether live inboxes may need bodies of this hour or earlier ones, by mailbox.extended_inboxes.
bool may_need_bodies(pqxx::work& tx, time_point hour)
{
    return column<bool>(tx.exec_params1(find_needed, to_unix_micros(hour)), "is_needed");
}

constexpr int max_inboxes = 20;
constexpr std::size_t max_emails = 200;
const std::string max_bytes = std::to_string(64 * 1024 * 1024);

constexpr const char* find_extended = R"(
    SELECT account_id, inbox_id FROM mailbox.extended_inboxes
    WHERE body_hour <= mailbox.from_micros($1) ORDER BY body_hour LIMIT $2)";

// Nobody reads the mail of an ended inbox.
constexpr const char* purge_notes_of_ended = R"(
    DELETE FROM mailbox.extended_inboxes AS x
    USING unnest($1::uuid[], $2::uuid[]) AS requested (account_id, inbox_id)
    WHERE x.account_id = requested.account_id AND x.inbox_id = requested.inbox_id AND NOT EXISTS (
        SELECT 1 FROM mailbox.inboxes AS i
        WHERE i.account_id = x.account_id AND i.inbox_id = x.inbox_id
            AND i.is_live AND i.expires_at > now()))";

// Locks in the order that extending, emptying and storing mail use.
constexpr const char* lock_live = R"(
    SELECT i.account_id, i.inbox_id, mailbox.to_micros(i.created_at) AS created_micros,
           mailbox.to_micros(date_trunc('hour', i.expires_at, 'UTC')) AS last_hour_micros
    FROM unnest($1::uuid[], $2::uuid[]) AS requested (account_id, inbox_id)
        JOIN mailbox.inboxes AS i USING (account_id, inbox_id)
    WHERE i.is_live AND i.expires_at > now() ORDER BY i.inbox_id FOR UPDATE OF i SKIP LOCKED)";

// No email is older than its inbox; ten minutes allow for clocks that differ.
const std::string emails_of_inbox = R"(
    FROM mailbox.emails AS e WHERE e.account_id = $1 AND e.inbox_id = $2
        AND e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes') )";

const std::string pick_emails = R"(
    SELECT email_id, mailbox.to_micros(body_hour) AS body_micros, body_id, is_body_shared FROM (
        SELECT e.email_id, e.body_hour, e.body_id, e.is_body_shared,
               sum(e.size_bytes) OVER (ORDER BY e.email_id) - e.size_bytes AS bytes_before )" +
                                emails_of_inbox +
                                R"( AND e.body_hour <= mailbox.from_micros($4)) AS early
    WHERE bytes_before < )" + max_bytes +
                                " ORDER BY email_id LIMIT $5";

const std::string next_hour = "SELECT mailbox.to_micros(min(e.body_hour)) AS hour_micros " +
                              emails_of_inbox + " AND e.body_hour < mailbox.from_micros($4)";

constexpr const char* name_new_hour = R"(
    UPDATE mailbox.emails SET body_hour = mailbox.from_micros($3)
    WHERE account_id = $1 AND email_id = ANY ($2::uuid[]))";
// The emails of the account's other inboxes too: they share the body, which is in one partition.
constexpr const char* name_new_hour_of_shared = R"(
    UPDATE mailbox.emails SET body_hour = mailbox.from_micros($2)
    WHERE body_id = ANY ($1::uuid[]) AND is_body_shared AND account_id = $3)";

// The hour is a literal, so that the plan has one partition (body_removal.cpp).
std::string move_from(std::int64_t hour)
{
    return "WITH gone AS (DELETE FROM mailbox.bodies AS b WHERE b.body_hour = "
           "mailbox.from_micros(" +
           std::to_string(hour) +
           ") AND b.body_id = ANY ($1::uuid[]) AND b.account_id = $3"
           " RETURNING b.body_id, b.account_id, b.raw)"
           " INSERT INTO mailbox.bodies (body_hour, body_id, account_id, raw)"
           " SELECT mailbox.from_micros($2), body_id, account_id, raw FROM gone";
}

constexpr const char* note_next_hour = R"(
    UPDATE mailbox.extended_inboxes SET body_hour = mailbox.from_micros($3)
    WHERE account_id = $1 AND inbox_id = $2)";
constexpr const char* purge_note =
    "DELETE FROM mailbox.extended_inboxes WHERE account_id = $1 AND inbox_id = $2";

struct extended_inbox
{
    std::string account, id;
    std::int64_t created = 0;
    std::int64_t last_hour = 0; // the hour in which it ends now
};

// Emails first, then bodies: the order in which deletions lock them.
void move_to_last_hour(pqxx::work& tx, const extended_inbox& inbox, const pqxx::result& early)
{
    std::vector<email_id> own;
    std::vector<body_id> shared;
    std::map<std::int64_t, std::vector<body_id>> bodies;
    for (const auto& row : early) {
        const auto body = column<body_id>(row, "body_id");
        if (column<bool>(row, "is_body_shared"))
            shared.push_back(body);
        else
            own.push_back(column<email_id>(row, "email_id"));
        bodies[column<std::int64_t>(row, "body_micros")].push_back(body);
    }
    if (!own.empty())
        tx.exec_params0(name_new_hour, inbox.account, postgres::to_array(own), inbox.last_hour);
    if (!shared.empty())
        tx.exec_params0(name_new_hour_of_shared, postgres::to_array(shared), inbox.last_hour,
                        inbox.account);
    for (const auto& [hour, ids] : bodies)
        tx.exec_params0(move_from(hour), postgres::to_array(ids), inbox.last_hour, inbox.account);
}

void move_bodies_of(pqxx::work& tx, const extended_inbox& inbox, std::int64_t hour)
{
    const auto early =
        tx.exec_params(pick_emails, inbox.account, inbox.id, inbox.created, hour, max_emails);
    move_to_last_hour(tx, inbox, early);
    if (early.empty()) {
        // It may have early bodies in later hours too, if it was extended more than once.
        const auto next =
            tx.exec_params1(next_hour, inbox.account, inbox.id, inbox.created, inbox.last_hour);
        if (const auto later = column<std::optional<std::int64_t>>(next, "hour_micros"))
            tx.exec_params0(note_next_hour, inbox.account, inbox.id, *later);
        else
            tx.exec_params0(purge_note, inbox.account, inbox.id);
    }
}

// Moves bodies of this hour and earlier ones that live inboxes need to the hour in which their
// inbox ends: a bounded number in one transaction, a shared body with all its emails. Skips inboxes
// that another transaction holds. True if it made progress: call it again.
bool move_needed_bodies(pqxx::work& tx, time_point hour)
{
    std::vector<account_id> accounts;
    std::vector<inbox_id> ids;
    for (const auto& row : tx.exec_params(find_extended, to_unix_micros(hour), max_inboxes)) {
        accounts.push_back(column<account_id>(row, "account_id"));
        ids.push_back(column<inbox_id>(row, "inbox_id"));
    }
    if (ids.empty())
        return false;
    const auto purged =
        tx.exec_params(purge_notes_of_ended, postgres::to_array(accounts), postgres::to_array(ids))
            .affected_rows();
    const auto live =
        tx.exec_params(lock_live, postgres::to_array(accounts), postgres::to_array(ids));
    for (const auto& row : live) {
        extended_inbox inbox;
        inbox.account = column<std::string>(row, "account_id");
        inbox.id = column<std::string>(row, "inbox_id");
        inbox.created = column<std::int64_t>(row, "created_micros");
        inbox.last_hour = column<std::int64_t>(row, "last_hour_micros");
        move_bodies_of(tx, inbox, to_unix_micros(hour));
    }
    return purged > 0 || !live.empty();
}

} // namespace

awaitable<void> partition_repository::ensure_email_days(int days_ahead)
{
    return db_.transact([days_ahead](pqxx::work& tx) {
        tx.exec0(short_lock_wait);
        tx.exec_params(ensure_days, days_ahead);
    });
}

awaitable<std::vector<time_point>> partition_repository::missing_body_hours(int hours_ahead)
{
    return db_.transact([hours_ahead](pqxx::work& tx) {
        std::vector<time_point> hours;
        for (const auto& row : tx.exec_params(missing_hours, hours_ahead))
            hours.push_back(column<time_point>(row, "hour_micros"));
        return hours;
    });
}

awaitable<void> partition_repository::ensure_body_hour(time_point hour)
{
    return db_.transact([hour](pqxx::work& tx) {
        tx.exec0(short_lock_wait);
        tx.exec_params(ensure_hour, to_unix_micros(hour));
    });
}

awaitable<std::vector<past_partition>> partition_repository::past_partitions()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<past_partition> past;
        for (const auto& row : tx.exec(find_past)) {
            past_partition partition;
            partition.name = column<std::string>(row, "relname");
            partition.hour = column<std::optional<time_point>>(row, "hour_micros");
            partition.is_overdue = row["is_overdue"].as<bool>(false);
            past.push_back(std::move(partition));
        }
        return past;
    });
}

awaitable<bool> partition_repository::move_needed(time_point hour)
{
    return db_.transact(
        [hour](pqxx::work& tx) { return !are_taken(tx) && move_needed_bodies(tx, hour); });
}

awaitable<drop_status> partition_repository::drop(past_partition past)
{
    return db_.transact([past = std::move(past)](pqxx::work& tx) {
        if (are_taken(tx))
            return drop_status::taken;
        const auto table = "mailbox." + tx.quote_name(past.name);
        if (!exists(tx, table))
            return drop_status::absent;
        const auto is_needed = [&] {
            return past.hour ? may_need_bodies(tx, *past.hour)
                             : !tx.exec("SELECT 1 FROM " + table + " LIMIT 1").empty();
        };
        if (is_needed())
            return drop_status::needed;
        // Everything that DROP locks, taken with NOWAIT, since DROP itself would wait.
        const auto parent = "mailbox." + past.name.substr(0, past.name.find('_'));
        tx.exec0(short_lock_wait);
        tx.exec0("LOCK TABLE ONLY " + parent + ", ONLY " + parent + "_default, ONLY " + table +
                 " IN ACCESS EXCLUSIVE MODE NOWAIT");
        if (is_needed())
            return drop_status::needed;
        tx.exec0("DROP TABLE " + table);
        return drop_status::dropped;
    });
}

awaitable<std::vector<postgres::partitioned_table>> partition_repository::partitions()
{
    return postgres::read_partitioned_tables(db_, {schema});
}

awaitable<std::optional<body_id>> partition_repository::empty_some(past_partition past,
                                                                   std::optional<body_id> after)
{
    return db_.transact([past = std::move(past), after](pqxx::work& tx) -> std::optional<body_id> {
        const auto table = "mailbox." + tx.quote_name(past.name);
        if (are_taken(tx) || !past.hour || !exists(tx, table) || may_need_bodies(tx, *past.hour))
            return std::nullopt;
        const auto hour = to_unix_micros(*past.hour);
        const auto from = after.value_or(body_id(uuid())).text();
        const auto last = tx.exec_params(find_last_of_batch(table), hour, from);
        if (last.empty())
            return std::nullopt;
        const auto to = column<body_id>(last[0], "body_id");
        tx.exec_params0(delete_batch(table), hour, from, to.text());
        return to;
    });
}

} // namespace tempinbox::mailbox
