#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/inbox_events.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// What one transaction ended and the committed events to publish.
struct expiry_batch
{
    std::vector<ended_inbox> ended;
    std::vector<outbox::row> events;
    std::chrono::microseconds oldest_delay{0}; // from the due time to the claim
    bool has_more_of_deleted =
        false; // of expire_of_deleted: accounts are left whose inboxes have not all ended
};

// Ends inboxes: marks them, frees the account's place, quarantines the address and writes
// inbox.expired, all in one transaction, exactly once whoever else tries. Throws when PostgreSQL
// cannot be reached.
class expiry_store
{
public:
    static constexpr std::size_t batch_size = 500;

    expiry_store(postgres::pool& db, std::string outbox_owner, std::chrono::seconds quarantine);

    // Up to batch_size that are due, passing over those another transaction holds.
    awaitable<expiry_batch> expire_due();

    // How long until the next inbox is due; negative when one is overdue, absent where none is
    // live.
    awaitable<std::optional<std::chrono::microseconds>> until_next_due();

    // Ends one now, at its owner's wish. Not there, another account's or ended already: not_found.
    awaitable<result<expiry_batch>> expire(account_id account, inbox_id id);

    // Ends up to batch_size live inboxes of the account that have the tag.
    awaitable<expiry_batch> expire_tagged(account_id account, std::string tag);

    // Ends up to batch_size live inboxes of deleted accounts, passing over those another
    // transaction holds. Of an account that is marked as deleted none can be made any more, so an
    // account is done with when it has none left.
    awaitable<expiry_batch> expire_of_deleted();

private:
    postgres::pool& db_;
    std::string outbox_owner_;
    std::chrono::seconds quarantine_;
};

} // namespace tempinbox::mailbox
