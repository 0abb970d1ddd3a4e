#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

struct purge_batch
{
    std::int64_t emails = 0;
    std::int64_t bodies = 0;
    std::int64_t inboxes = 0;
    std::vector<outbox::row> events; // committed, to publish
    bool is_full = false;            // call again at once
};

// Deletes what has ended, and old rejections and attempts, in transactions of bounded size; any
// number of processes may do so at once. Throws if PostgreSQL cannot be reached.
class purge_repository
{
public:
    static constexpr int batch_size = 500;

    // Events are written with `outbox_owner` as owner.
    purge_repository(postgres::pool& db, std::string outbox_owner);

    // Emails of ended inboxes, and the bodies that no email needs any more. If an inbox ended by
    // its TTL and the body's hour has come, the body is left to be dropped with its partition.
    awaitable<purge_batch> purge_mail();

    // Inboxes that ended more than `retention` ago and whose mail is purged, with the tombstones of
    // inbox.state; addresses and subdomains whose quarantine is over, rejections that are a day
    // old, and attempts that are three days old.
    awaitable<purge_batch> purge_inboxes(std::chrono::seconds retention);

private:
    postgres::pool& db_;
    std::string outbox_owner_;
};

} // namespace tempinbox::mailbox
