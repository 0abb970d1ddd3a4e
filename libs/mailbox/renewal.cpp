#include "mailbox/renewal.hpp"

#include "common/postgres/session.hpp"

namespace tempinbox::mailbox {
namespace {

// $4: whether a choice that is there stays.
constexpr postgres::statement write{"mailbox_write_renewal", R"(
    UPDATE mailbox.inboxes SET renews_on_use = $3::boolean
    WHERE account_id = $1 AND inbox_id = $2 AND NOT ($4::boolean AND renews_on_use IS NOT NULL))"};

void write_as(pqxx::work& tx, account_id account, inbox_id inbox, bool renews, bool keeps_choice)
{
    postgres::exec_prepared0(tx, write.name, account.text(), inbox.text(), renews, keeps_choice);
}

} // namespace

bool renews_inboxes(const plans::plan_limits& limits)
{
    return limits.api_access;
}

result<void> check_renewal(const plans::account_state& account, time_point now)
{
    if (renews_inboxes(account.limits_at(now)))
        return {};
    return failure{errc::permission_denied,
                   "renewOnUse is not part of the plan " + account.plan_at(now),
                   error_reason::plan_required};
}

std::vector<postgres::statement> renewal_statements()
{
    return {write};
}

void write_renewal(pqxx::work& tx, account_id account, inbox_id inbox, bool renews)
{
    write_as(tx, account, inbox, renews, false);
}

void write_capture_renewal(pqxx::work& tx, account_id account, inbox_id inbox)
{
    write_as(tx, account, inbox, true, true);
}

} // namespace tempinbox::mailbox
