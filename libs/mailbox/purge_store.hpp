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
    bool is_full = false; // call again at once
};

// Purges what has ended, in transactions of bounded size; any number of processes may do so at
// once. Throws if PostgreSQL cannot be reached.
class purge_store
{
public:
    static constexpr int batch_size = 500;

    explicit purge_store(postgres::pool& db);

    // Emails of ended inboxes, and the bodies that no email needs any more. If an inbox ended by
    // its TTL and the body's hour has come, the body is left to be dropped with its partition
    // (partition_store).
    awaitable<purge_batch> purge_mail();

    // Inboxes that ended more than `retention` ago and whose mail is purged, and addresses whose
    // quarantine is over.
    awaitable<purge_batch> purge_inboxes(std::chrono::seconds retention);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
