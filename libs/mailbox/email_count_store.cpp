#include "mailbox/email_count_store.hpp"

#include "common/postgres/daily_counts.hpp"

namespace tempinbox::mailbox {
namespace {

constexpr postgres::statement count_emails{"mailbox_count_emails", R"(
    WITH first AS (SELECT (now() AT TIME ZONE 'UTC')::date - $2::int + 1 AS day),
    counted AS (
        SELECT mailbox.day_of(email_id) AS day, count(*) AS emails FROM mailbox.emails
        WHERE account_id = $1::uuid
            AND email_id >= mailbox.lowest_uuid(((now() AT TIME ZONE 'UTC')::date - $2::int + 1)::timestamp AT TIME ZONE 'UTC')
        GROUP BY 1
        UNION ALL
        SELECT day, emails FROM mailbox.deleted_emails WHERE account_id = $1::uuid AND day >= (SELECT day FROM first))
    SELECT day - date '1970-01-01', sum(emails)::bigint FROM counted GROUP BY day ORDER BY day)"};

} // namespace

email_count_store::email_count_store(postgres::pool& db) : db_(db)
{
    db_.prepare(count_emails);
}

awaitable<std::vector<daily_count>> email_count_store::list(account_id account, int days)
{
    return postgres::list_daily_counts(db_, count_emails, account, days);
}

} // namespace tempinbox::mailbox
