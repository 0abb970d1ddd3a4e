#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/email_search.hpp"

#include <cstdint>
#include <vector>

namespace tempinbox::mailbox {

// To be prepared before the function below is called.
std::vector<postgres::statement> email_search_statements();

// Reads an inbox's emails for searches, as email_repository::find_first says. Throws as pqxx does.
result<search_results> find_first_emails(pqxx::transaction_base& tx, account_id account,
                                         inbox_id inbox, const std::vector<email_search>& searches);

// The emails above a sequence, at most `max_emails`.
result<examined_emails> read_emails_above(pqxx::transaction_base& tx, account_id account,
                                          inbox_id inbox, std::int64_t above, int max_emails);

} // namespace tempinbox::mailbox
