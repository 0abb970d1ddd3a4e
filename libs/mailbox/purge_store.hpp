#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <cstdint>

namespace tempinbox::mailbox {

struct purge_batch
{
    std::int64_t emails = 0;
    std::int64_t bodies = 0;
    std::int64_t inboxes = 0;
    bool is_full = false; // there is more to do at once
};

// Takes what has ended from the disk, in transactions of bounded size; any number of processes may
// do so at once. Throws when PostgreSQL cannot be reached.
class purge_store
{
public:
    static constexpr int batch_size = 500;

    explicit purge_store(postgres::pool& db);

    // Emails of ended inboxes and the bodies that no email needs any more. Bodies of inboxes that
    // ended by time stay where their hour has come: they leave with its partition
    // (partition_store).
    awaitable<purge_batch> purge_mail();

    // Inboxes that ended before `kept` and whose mail is gone, and addresses whose quarantine is
    // over.
    awaitable<purge_batch> purge_inboxes(std::chrono::seconds retention);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
