#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/email_filter.hpp"
#include "mailbox/types.hpp"

#include <optional>
#include <string>

namespace tempinbox::mailbox {

// Which emails of an account a list shows, and from where on.
struct email_query
{
    account_id account;
    std::optional<inbox_id> inbox; // absent: all live ones
    int limit = 25;
    std::string cursor;
    std::int64_t after = 0; // within one inbox: only sequences above it
    email_filter filter;
    bool with_codes = true;     // within one inbox: else they are left out
    std::int64_t max_bytes = 0; // a page ends before its messages are larger together; 0: no bound
};

// Emails at rest. Mail of an inbox that has ended, is another account's or does not exist is
// not_found; throws when PostgreSQL cannot be reached.
class email_store
{
public:
    explicit email_store(postgres::pool& db);

    // Newest first. With a filter, and over all inboxes, a page looks at no more than 2,000 rows,
    // so it may be short while there is a next one.
    awaitable<result<email_page>> list(email_query query);
    // Of one inbox, unfiltered.
    awaitable<result<email_page>> list(account_id account, inbox_id inbox, int limit,
                                       std::string cursor, std::int64_t after);

    // With the message as received.
    awaitable<result<stored_email>> find(account_id account, email_id id);

    // How large the message is.
    awaitable<result<std::int64_t>> find_size(account_id account, email_id id);

    awaitable<result<email_summary>> mark(account_id account, email_id id, bool is_read);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
