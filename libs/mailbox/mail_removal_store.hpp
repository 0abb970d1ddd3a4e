#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

namespace tempinbox::mailbox {

// What one transaction took out of an inbox.
struct removed_mail
{
    std::int64_t emails = 0;
    std::int64_t last_sequence = 0; // of the inbox
    bool is_full = false;           // there may be more
};

// Deletes mail of live inboxes at their owners' wish, bodies that no email needs any more with it.
// The counts of an inbox go down, its sequence numbers go on. What is absent, another account's or
// of an ended inbox is not_found; throws when PostgreSQL cannot be reached.
class mail_removal_store
{
public:
    static constexpr std::int64_t batch_size = 500;

    explicit mail_removal_store(postgres::pool& db);

    // Up to batch_size emails whose sequence is not above `up_to`; absent: the inbox's last one
    // when called.
    awaitable<result<removed_mail>> empty(account_id account, inbox_id inbox,
                                          std::optional<std::int64_t> up_to);

    awaitable<result<void>> remove(account_id account, email_id email);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
