#include "mailbox/partition_store.hpp"

#include "mailbox/body_move_store.hpp"

namespace tempinbox::mailbox {
namespace {

// The exclusive locks use NOWAIT. This timeout is for locks that block nobody else, such as the
// advisory lock of everyone who makes partitions.
constexpr const char* short_lock_wait = "SET LOCAL lock_timeout = '200ms'";

constexpr const char* ensure_days = R"(
    SELECT mailbox.ensure_email_day((now() AT TIME ZONE 'UTC')::date + n) FROM generate_series(0, $1::int) AS n)";

// Steps along the index from hour to hour: costs the number of distinct hours, not of inboxes.
constexpr const char* missing_hours = R"(
    WITH RECURSIVE due (hour) AS (
        (SELECT date_trunc('hour', expires_at, 'UTC') FROM mailbox.inboxes
         WHERE is_live AND expires_at >= now() AND expires_at < '9000-01-01 00:00:00+00' ORDER BY expires_at LIMIT 1)
        UNION ALL
        SELECT (SELECT date_trunc('hour', i.expires_at, 'UTC') FROM mailbox.inboxes AS i
                WHERE i.is_live AND i.expires_at >= due.hour + interval '1 hour' AND i.expires_at < '9000-01-01 00:00:00+00'
                ORDER BY i.expires_at LIMIT 1)
        FROM due WHERE due.hour IS NOT NULL),
    wanted (hour) AS (
        SELECT hour FROM due WHERE hour IS NOT NULL
        UNION SELECT date_trunc('hour', now(), 'UTC') + n * interval '1 hour' FROM generate_series(0, $1::int) AS n)
    SELECT mailbox.to_micros(hour) FROM wanted
    WHERE to_regclass('mailbox.bodies_' || to_char(hour AT TIME ZONE 'UTC', 'YYYYMMDD_HH24')) IS NULL ORDER BY hour)";

constexpr const char* ensure_hour = "SELECT mailbox.ensure_body_hour(mailbox.from_micros($1))";

// Some time after their end, so that no running transaction still writes to them.
constexpr const char* find_past = R"(
    SELECT relname, mailbox.to_micros(hour), hour < now() - interval '8 hours'
    FROM (SELECT c.relname, CASE WHEN c.relname LIKE 'bodies%' THEN to_timestamp(right(c.relname, 11), 'YYYYMMDD_HH24') END AS hour
          FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
          WHERE (i.inhparent = 'mailbox.bodies'::regclass AND c.relname ~ '^bodies_[0-9]{8}_[0-9]{2}$'
                 AND c.relname < 'bodies_' || to_char((now() - interval '1 hour') AT TIME ZONE 'UTC', 'YYYYMMDD_HH24'))
             OR (i.inhparent = 'mailbox.emails'::regclass AND c.relname ~ '^emails_[0-9]{8}$'
                 AND c.relname < 'emails_' || to_char((now() - interval '1 day') AT TIME ZONE 'UTC', 'YYYYMMDD'))) AS ended
    ORDER BY relname)";

constexpr const char* take_partitions =
    "SELECT pg_try_advisory_xact_lock(hashtext('mailbox.partitions'))";

bool are_taken(pqxx::work& tx)
{
    return !tx.exec1(take_partitions)[0].as<bool>();
}

bool exists(pqxx::work& tx, const std::string& table)
{
    return !tx.exec_params1("SELECT to_regclass($1)", table)[0].is_null();
}

// Batches go by id in index order, so that none scans the rows of earlier batches.
std::string find_last_of_batch(const std::string& table)
{
    return "SELECT body_id FROM (SELECT body_id FROM " + table +
           " WHERE body_hour = mailbox.from_micros($1) AND body_id > $2 ORDER BY body_hour, "
           "body_id LIMIT " +
           std::to_string(partition_store::batch_size) + ") AS batch ORDER BY body_id DESC LIMIT 1";
}

std::string delete_batch(const std::string& table)
{
    return "DELETE FROM " + table +
           " WHERE body_hour = mailbox.from_micros($1) AND body_id > $2 AND body_id <= $3";
}

} // namespace

partition_store::partition_store(postgres::pool& db) : db_(db) {}

awaitable<void> partition_store::ensure_email_days(int days_ahead)
{
    return db_.transact([days_ahead](pqxx::work& tx) {
        tx.exec0(short_lock_wait);
        tx.exec_params(ensure_days, days_ahead);
    });
}

awaitable<std::vector<time_point>> partition_store::missing_body_hours(int hours_ahead)
{
    return db_.transact([hours_ahead](pqxx::work& tx) {
        std::vector<time_point> hours;
        for (const auto& row : tx.exec_params(missing_hours, hours_ahead))
            hours.push_back(from_unix_micros(row[0].as<std::int64_t>()));
        return hours;
    });
}

awaitable<void> partition_store::ensure_body_hour(time_point hour)
{
    return db_.transact([hour](pqxx::work& tx) {
        tx.exec0(short_lock_wait);
        tx.exec_params(ensure_hour, to_unix_micros(hour));
    });
}

awaitable<std::vector<past_partition>> partition_store::past_partitions()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<past_partition> found;
        for (const auto& row : tx.exec(find_past)) {
            past_partition one;
            one.name = row[0].as<std::string>();
            if (!row[1].is_null())
                one.hour = from_unix_micros(row[1].as<std::int64_t>());
            one.is_overdue = row[2].as<bool>(false);
            found.push_back(std::move(one));
        }
        return found;
    });
}

awaitable<bool> partition_store::move_needed(time_point hour)
{
    return db_.transact(
        [hour](pqxx::work& tx) { return !are_taken(tx) && move_needed_bodies(tx, hour); });
}

awaitable<drop_status> partition_store::drop(past_partition past)
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

awaitable<std::optional<body_id>> partition_store::empty_some(past_partition past,
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
        tx.exec_params0(delete_batch(table), hour, from, last[0][0].c_str());
        return body_id::parse(last[0][0].c_str()).value();
    });
}

} // namespace tempinbox::mailbox
