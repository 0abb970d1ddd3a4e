#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"

#include <string>
#include <vector>

namespace tempinbox::mailbox {

// That an inbox ends soon, for its account.
struct end_notice
{
    uuid id;
    account_id account;
    inbox_id inbox;
    std::string address;
    time_point expires_at;
    int days = 0; // it ends within so many
    bool has_login = false;
};

// Notices of inboxes that others rely on: captures whose login was used within the last seven days,
// and catch-alls that got mail within them. Each has a notice three days before its end and one a
// day before, unless it lives less than twice that long; an end that moved has notices of its own.
// Any number of processes may claim at once. Throws if PostgreSQL cannot be reached.
class end_notice_repository
{
public:
    explicit end_notice_repository(postgres::pool& db);

    // Pending notices, those never claimed and the next end first, at most `limit`. A notice is
    // pending until it is settled, until the next one comes, or the inbox ends: again after five
    // minutes, then each time four times later, up to 21 hours.
    awaitable<std::vector<end_notice>> claim(int limit);
    // A notice that is not pending any more changes nothing.
    awaitable<void> settle(account_id account, inbox_id inbox, uuid notice);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
