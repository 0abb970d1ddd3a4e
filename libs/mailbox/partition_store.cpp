#include "mailbox/partition_store.hpp"

namespace tempinbox::mailbox {
namespace {

// Attaching and dropping wait for running statements, and what comes later waits behind them: not long.
constexpr const char* short_lock_wait = "SET LOCAL lock_timeout = '200ms'";

constexpr const char* ensure_days = R"(
    SELECT mailbox.ensure_email_day((now() AT TIME ZONE 'UTC')::date + n) FROM generate_series(0, $1::int) AS n)";

// Steps along the index from hour to hour: costs what the distinct hours cost, not what the inboxes do.
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

// A while past their end, so that no running transaction still writes there.
constexpr const char* past = R"(
    SELECT c.relname FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE (i.inhparent = 'mailbox.bodies'::regclass AND c.relname ~ '^bodies_[0-9]{8}_[0-9]{2}$'
           AND c.relname < 'bodies_' || to_char((now() - interval '2 hours') AT TIME ZONE 'UTC', 'YYYYMMDD_HH24'))
       OR (i.inhparent = 'mailbox.emails'::regclass AND c.relname ~ '^emails_[0-9]{8}$'
           AND c.relname < 'emails_' || to_char((now() - interval '1 day') AT TIME ZONE 'UTC', 'YYYYMMDD'))
    ORDER BY c.relname)";

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

awaitable<std::vector<std::string>> partition_store::past_partitions()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<std::string> names;
        for (const auto& row : tx.exec(past))
            names.push_back(row[0].as<std::string>());
        return names;
    });
}

awaitable<bool> partition_store::drop_if_empty(std::string partition)
{
    return db_.transact([partition = std::move(partition)](pqxx::work& tx) {
        const auto table = "mailbox." + tx.quote_name(partition);
        const auto is_empty = [&] { return tx.exec("SELECT 1 FROM " + table + " LIMIT 1").empty(); };
        if (!is_empty())
            return false;
        tx.exec0(short_lock_wait);
        tx.exec0("LOCK TABLE ONLY mailbox." + partition.substr(0, partition.find('_')) + " IN ACCESS EXCLUSIVE MODE");
        if (!is_empty())
            return false;
        tx.exec0("DROP TABLE " + table);
        return true;
    });
}

} // namespace tempinbox::mailbox
