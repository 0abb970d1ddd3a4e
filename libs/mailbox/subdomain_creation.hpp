#pragma once

#include "common/core/errors.hpp"
#include "common/core/time.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// The steps of transactions that create catch-alls; they throw as pqxx does. Their callers hold the
// locks of the accounts (account_lock.hpp).

// To be prepared before the steps are used.
std::vector<postgres::statement> subdomain_statements();

// Locks the counts of the accounts' live inboxes, which comes before subdomains.
void lock_live_inbox_counts(pqxx::work& tx,
                            const std::map<account_id, plans::account_state>& accounts);

// Locks subdomains that a batch names, whoever holds them: in one order for all batches, so that
// two never wait for each other. Those of catch-alls are locked though nobody holds them yet. Comes
// after lock_live_inbox_counts and before any other lock of a subdomain.
void lock_subdomains(pqxx::work& tx, const std::vector<std::string>& of_catch_alls,
                     const std::vector<std::string>& of_named_inboxes);

// Makes the subdomain, or a random one, ready for a catch-all of the account, and returns its name;
// without the catch-all it stays free. invalid_argument unless it is a name below a domain that
// takes subdomains, permission_denied if the plan has no place for it beside those that the account
// holds, conflict if another account holds it or held it less than 30 days ago.
result<std::string> take_subdomain(pqxx::work& tx, const plans::account_state& account,
                                   const std::optional<std::string>& requested, time_point now);

// Fails with invalid_argument where take_subdomain would.
result<void> check_subdomain(pqxx::work& tx, const std::optional<std::string>& requested);

} // namespace tempinbox::mailbox
