#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <string>
#include <vector>

namespace tempinbox::mailbox {

struct email_key
{
    account_id account;
    email_id id;
};

// Emails whose 250 their sender may not have seen, for ten minutes: mailbox.store_mail_once knows a
// second delivery of the same message by them. Only those with a Message-ID are kept.
class unacknowledged_store
{
public:
    explicit unacknowledged_store(postgres::pool& db);

    awaitable<void> mark(std::vector<email_key> emails);

    // A process that takes mail begins. Where the one of that name before it did not sign off, it
    // crashed.
    awaitable<void> sign_on(std::string replica);
    // Every few seconds: it is there; of processes that have not been for half a minute all mail of
    // their last minute is unconfirmed; what is over is forgotten.
    awaitable<void> heartbeat(std::string replica);
    // It ends in order.
    awaitable<void> sign_off(std::string replica);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
