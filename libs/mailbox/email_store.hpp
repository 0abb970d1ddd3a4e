#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/email_filter.hpp"
#include "mailbox/types.hpp"

#include <optional>
#include <string>

namespace tempinbox::mailbox {

// Which emails of an account to list, and from where on.
struct email_query
{
    account_id account;
    std::optional<inbox_id> inbox; // absent: all live inboxes
    int limit = 25;
    std::string cursor;
    std::int64_t after = 0; // within one inbox: only sequences above this one
    email_filter filter;
    bool with_codes = true;     // within one inbox: false leaves the codes out
    std::int64_t max_bytes = 0; // a page ends before its messages exceed this in total; 0: no bound
};

// Stored emails. Mail of an inbox that has ended, is another account's or does not exist is
// not_found. Throws if PostgreSQL cannot be reached.
class email_store
{
public:
    explicit email_store(postgres::pool& db);

    // Newest first. With a filter, and over all inboxes, a page reads at most 2,000 rows, so it may
    // be short though there is a next one.
    awaitable<result<email_page>> list(email_query query);
    // The emails of one inbox, unfiltered.
    awaitable<result<email_page>> list(account_id account, inbox_id inbox, int limit,
                                       std::string cursor, std::int64_t after);

    // The email with the message as received.
    awaitable<result<stored_email>> find(account_id account, email_id id);

    // The size of the message in bytes.
    awaitable<result<std::int64_t>> find_size(account_id account, email_id id);

    awaitable<result<email_summary>> mark(account_id account, email_id id, bool is_read);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
