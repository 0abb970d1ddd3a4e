#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <string_view>
#include <vector>

namespace tempinbox::mailbox {

// The TTL that was last asked for, in seconds: SQL over a row `i` of mailbox.inboxes.
inline constexpr std::string_view ttl_of_inbox =
    "coalesce(i.ttl_seconds, "
    "round(extract(epoch FROM coalesce(i.first_expires_at, i.expires_at) - i.created_at))::bigint)";

// Whether inboxes of a plan can be renewed by their use: of those with API access.
bool renews_inboxes(const plans::plan_limits& limits);

// permission_denied if the account's plan renews none.
result<void> check_renewal(const plans::account_state& account, time_point now);

// The steps of transactions that choose whether inboxes are renewed; they throw as pqxx does. Their
// callers hold the lock of the inbox's row.

// To be prepared before the steps are used.
std::vector<postgres::statement> renewal_statements();

void write_renewal(pqxx::work& tx, account_id account, inbox_id inbox, bool renews);

// Of an inbox that gets a login: as captures have it, unless somebody chose.
void write_capture_renewal(pqxx::work& tx, account_id account, inbox_id inbox);

} // namespace tempinbox::mailbox
