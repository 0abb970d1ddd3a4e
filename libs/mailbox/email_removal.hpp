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

// A live inbox whose row the caller has locked.
struct locked_inbox
{
    account_id account;
    inbox_id id;
    std::int64_t created_micros = 0;
};

// How much of an inbox's oldest mail is to go: each email with which one of these is not yet
// reached.
struct excess
{
    std::int64_t emails = 0;
    std::int64_t bytes = 0;
    std::int64_t before_micros = 0; // every email received earlier
};

// Deletes of the removal_batch_size oldest emails those in excess; returns how many.
std::int64_t remove_oldest_emails(pqxx::work& tx, const locked_inbox& inbox, const excess& over);

// When the oldest email was received, in microseconds; absent if there is none.
std::optional<std::int64_t> find_oldest_email(pqxx::work& tx, const locked_inbox& inbox);

// Deletes emails of live inboxes, as if one after the other: a result for each, in their order.
std::vector<result<void>> remove_emails(pqxx::work& tx,
                                        const std::vector<std::pair<account_id, email_id>>& emails);

failure email_does_not_exist(email_id id);

} // namespace tempinbox::mailbox
