#include "mailbox/email_counts.hpp"

#include "common/postgres/autocommit.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/daily_counts.hpp"
#include "common/postgres/session.hpp"

namespace tempinbox::mailbox {
namespace {

constexpr postgres::statement count_emails{"mailbox_count_emails", R"(
    WITH first AS (SELECT (now() AT TIME ZONE 'UTC')::date - $2::int + 1 AS day),
    counted AS (
        SELECT mailbox.day_of(email_id) AS day, count(*) AS emails FROM mailbox.emails
        WHERE account_id = $1::uuid
            AND email_id >= mailbox.lowest_uuid(
                ((now() AT TIME ZONE 'UTC')::date - $2::int + 1)::timestamp AT TIME ZONE 'UTC')
        GROUP BY 1
        UNION ALL
        SELECT day, emails FROM mailbox.deleted_emails
        WHERE account_id = $1::uuid AND day >= (SELECT day FROM first))
    SELECT day - date '1970-01-01' AS day, sum(emails)::bigint AS count
    FROM counted GROUP BY day ORDER BY day)"};

constexpr postgres::statement count_tagged_emails{"mailbox_count_tagged_emails", R"(
    SELECT mailbox.day_of(e.email_id) - date '1970-01-01' AS day, count(*) AS count
    FROM mailbox.inboxes AS i
        JOIN mailbox.emails AS e ON e.account_id = i.account_id AND e.inbox_id = i.inbox_id
    WHERE i.account_id = $1::uuid AND $3::text = ANY (i.tags)
        AND e.email_id >= mailbox.lowest_uuid(
            ((now() AT TIME ZONE 'UTC')::date - $2::int + 1)::timestamp AT TIME ZONE 'UTC')
    GROUP BY 1 ORDER BY 1)"};

} // namespace

std::vector<postgres::statement> email_count_statements()
{
    return {count_emails, count_tagged_emails};
}

awaitable<std::vector<daily_count>> count_emails_by_day(postgres::pool& db, account_id account,
                                                        int days)
{
    return postgres::list_daily_counts(db, count_emails, account, days);
}

awaitable<std::vector<daily_count>>
count_tagged_emails_by_day(postgres::pool& db, account_id account, std::string tag, int days)
{
    return postgres::run_autocommit<std::vector<daily_count>>(
        db, [account, tag = std::move(tag), days](pqxx::nontransaction& tx) {
            std::vector<daily_count> counts;
            for (const auto& row :
                 postgres::exec_prepared(tx, count_tagged_emails.name, account.text(), days, tag))
                counts.emplace_back(postgres::column<std::chrono::sys_days>(row, "day"),
                                    postgres::column<std::int64_t>(row, "count"));
            return counts;
        });
}

} // namespace tempinbox::mailbox
