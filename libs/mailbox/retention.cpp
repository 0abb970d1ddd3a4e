#include "mailbox/retention.hpp"

#include "common/postgres/session.hpp"
#include "mailbox/columns.hpp"

#include <cstdint>
#include <string>

namespace tempinbox::mailbox {
namespace {

constexpr std::chrono::hours capture_max_age{24 * 7};

// $3: seconds, or NULL. $5: whether a choice that is there stays.
constexpr postgres::statement write{"mailbox_write_retention", R"(
    UPDATE mailbox.inboxes
    SET max_age_seconds = $3::bigint, drops_oldest = $4::boolean,
        age_due_at = CASE WHEN $3::bigint IS NULL THEN NULL ELSE now() END, needs_trim = $4::boolean
    WHERE account_id = $1 AND inbox_id = $2 AND NOT ($5::boolean AND drops_oldest IS NOT NULL))"};

void write_as(pqxx::work& tx, account_id account, inbox_id inbox, const retention_policy& chosen,
              bool keeps_choice)
{
    std::optional<std::string> seconds;
    if (chosen.max_age)
        seconds = std::to_string(chosen.max_age->count());
    postgres::exec_prepared0(tx, write.name, account.text(), inbox.text(), or_null(seconds),
                             chosen.drops_oldest, keeps_choice);
}

} // namespace

retention_policy default_retention(bool is_capture)
{
    if (!is_capture)
        return {};
    return {capture_max_age, true};
}

retention_policy apply(retention_policy current, const retention_change& requested, bool is_capture)
{
    if (requested.resets)
        current = default_retention(is_capture);
    if (requested.max_age)
        current.max_age = requested.max_age->count() > 0 ? requested.max_age : std::nullopt;
    if (requested.drops_oldest)
        current.drops_oldest = *requested.drops_oldest;
    return current;
}

std::vector<postgres::statement> retention_statements()
{
    return {write};
}

void write_retention(pqxx::work& tx, account_id account, inbox_id inbox,
                     const retention_policy& chosen)
{
    write_as(tx, account, inbox, chosen, false);
}

void write_capture_retention(pqxx::work& tx, account_id account, inbox_id inbox)
{
    write_as(tx, account, inbox, default_retention(true), true);
}

} // namespace tempinbox::mailbox
