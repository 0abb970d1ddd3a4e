#pragma once

#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace tempinbox::mailbox {

// A choice of how an inbox keeps mail; what is absent stays.
struct retention_change
{
    bool resets = false;                         // first to what inboxes of its kind have
    std::optional<std::chrono::seconds> max_age; // 0: none
    std::optional<bool> drops_oldest;
};

// What an inbox has of which nobody chose: a capture keeps mail for seven days and drops the
// oldest.
retention_policy default_retention(bool is_capture);

retention_policy apply(retention_policy current, const retention_change& requested,
                       bool is_capture);

// The steps of transactions that change how inboxes keep mail; they throw as pqxx does. Their
// callers hold the lock of the inbox's row.

// To be prepared before the steps are used.
std::vector<postgres::statement> retention_statements();

// The inbox's mail is looked at soon, however much and old it is.
void write_retention(pqxx::work& tx, account_id account, inbox_id inbox,
                     const retention_policy& chosen);

// Of an inbox that gets a login: what captures have, unless somebody chose.
void write_capture_retention(pqxx::work& tx, account_id account, inbox_id inbox);

} // namespace tempinbox::mailbox
