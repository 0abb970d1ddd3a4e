#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <cstdint>

namespace tempinbox::mailbox {

struct retention_batch
{
    std::int64_t emails = 0;
    bool is_full = false; // call again at once
};

// Deletes the mail that live inboxes are to keep no longer (retention_policy), in transactions of
// bounded size; any number of processes may do so at once. Throws if PostgreSQL cannot be reached.
class retention_repository
{
public:
    explicit retention_repository(postgres::pool& db);

    // Of one inbox that mail-ingest found past nine tenths of the bounds: the oldest emails, until
    // eight tenths are left. Mail to that inbox waits meanwhile.
    awaitable<retention_batch> trim(inbox_bounds bounds);

    // Emails that are older than their inboxes keep them. An inbox is looked at once a minute, or
    // once in a tenth of the age, while some of its mail is about to reach it.
    awaitable<retention_batch> delete_old();

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
