#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/list_order.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/email_filter.hpp"
#include "mailbox/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mailbox {

inline constexpr int max_listed_rows = 2'000;

// Which emails of an account to list, and from where on.
struct email_query
{
    account_id account;
    std::optional<inbox_id> inbox; // absent: all live inboxes
    std::vector<std::string> tags; // over all inboxes: only those with all of them; at most two
    int limit = 25;
    std::string cursor;
    list_order order = list_order::newest_first;
    std::int64_t after = 0; // within one inbox: only sequences above this one
    email_filter filter;
    bool with_codes = true;     // within one inbox: false leaves the codes out
    std::int64_t max_bytes = 0; // a page ends before its messages exceed this in total; 0: no bound
    int max_rows = max_listed_rows; // looked at with a filter, and over all inboxes
};

// A cursor for the page that starts past the email.
std::string cursor_past(const email_query& query, const email_summary& email);

// The version of an inbox's list: SQL over a row of mailbox.inboxes.
inline constexpr std::string_view list_version_column =
    "last_sequence || '-' || email_count || '-' || mail_changes";

// To be prepared before the function below is called.
std::vector<postgres::statement> email_list_statements();

// Reads lists that are asked for together, as email_repository::list says: a result for each, in
// their order. Throws as pqxx does.
std::vector<result<email_page>> list_emails(pqxx::transaction_base& tx,
                                            const std::vector<email_query>& queries);

} // namespace tempinbox::mailbox
