#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

namespace tempinbox::mailbox {

// What one transaction deleted from an inbox.
struct removed_mail
{
    std::int64_t emails = 0;
    std::int64_t last_sequence = 0; // of the inbox
    bool is_full = false;           // there may be more
};

// Deletes mail of live inboxes for their owners, with the bodies that no email needs any more. The
// inbox's counts go down; its sequence numbers continue. not_found if the mail or inbox is absent,
// another account's or the inbox has ended; throws if PostgreSQL cannot be reached.
class mail_removal_store
{
public:
    static constexpr std::int64_t batch_size = 500;

    explicit mail_removal_store(postgres::pool& db);

    // Deletes up to batch_size emails with sequence <= `up_to`; if absent, up to the inbox's last
    // one at the call.
    awaitable<result<removed_mail>> empty(account_id account, inbox_id inbox,
                                          std::optional<std::int64_t> up_to);

    awaitable<result<void>> remove(account_id account, email_id email);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
