#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

constexpr std::int64_t removal_batch_size = 500;

// What one transaction deleted from an inbox.
struct removed_mail
{
    std::int64_t emails = 0;
    std::int64_t last_sequence = 0; // of the inbox
    bool is_full = false;           // there may be more
};

// The steps of email_repository's transactions that delete emails; they throw as pqxx does.

// To be prepared before the steps are used.
std::vector<postgres::statement> removal_statements();

// Deletes up to removal_batch_size emails of a live inbox up to a sequence, or to its last one.
result<removed_mail> remove_emails(pqxx::work& tx, account_id account, inbox_id inbox,
                                   std::optional<std::int64_t> up_to);

// Deletes emails of live inboxes, as if one after the other: a result for each, in their order.
std::vector<result<void>> remove_emails(pqxx::work& tx,
                                        const std::vector<std::pair<account_id, email_id>>& emails);

failure email_does_not_exist(email_id id);

} // namespace tempinbox::mailbox
