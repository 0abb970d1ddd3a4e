#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <string>

namespace tempinbox::mailbox {

// Emails at rest, read only. Mail of an inbox that has ended, is another account's or does not exist is not_found; throws when
// PostgreSQL cannot be reached.
class email_store
{
public:
    explicit email_store(postgres::pool& db);

    // Newest first; only sequences above `after`.
    awaitable<result<page<email_summary>>> list(account_id account, inbox_id inbox, int limit, std::string cursor,
                                                std::int64_t after);

    // With the message as received.
    awaitable<result<stored_email>> find(account_id account, email_id id);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
