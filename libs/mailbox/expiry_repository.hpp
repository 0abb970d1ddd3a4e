#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "common/trace/traceparent.hpp"
#include "mailbox/inbox_events.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// What one transaction ended, and the committed events to publish.
struct expiry_batch
{
    std::vector<ended_inbox> ended;
    std::vector<outbox::row> events;
    std::chrono::microseconds oldest_delay{0}; // from due time to claim
    // For expire_of_deleted: some deleted accounts still have inboxes that have not ended.
    bool has_more_of_deleted = false;
};

// An inbox to end at its owner's request.
struct inbox_end
{
    account_id account;
    inbox_id id;
    trace::context cause; // of its events; not valid: the context in which they are made
};

// Ends inboxes: marks them, frees the account's slot, quarantines the address and writes
// inbox.expired and inbox.state, all in one transaction, exactly once under any concurrency.
// Deletes nothing: that is purge_repository. Throws if PostgreSQL cannot be reached.
class expiry_repository
{
public:
    static constexpr std::size_t batch_size = 500;

    expiry_repository(postgres::pool& db, std::string outbox_owner,
                      std::chrono::seconds quarantine);

    // Up to batch_size due inboxes, skipping those another transaction holds.
    awaitable<expiry_batch> expire_due();

    // How long until the next inbox is due; negative if one is overdue, absent if none is live.
    awaitable<std::optional<std::chrono::microseconds>> until_next_due();

    // Ends one inbox at its owner's request. not_found if it is absent, another account's or ended.
    awaitable<result<expiry_batch>> expire(account_id account, inbox_id id);
    // The same for inboxes that are ended together, as if one after the other; each fails alone.
    awaitable<std::vector<result<expiry_batch>>> expire_all(std::vector<inbox_end> requested);

    // Ends up to batch_size live inboxes of the account that have the tag.
    awaitable<expiry_batch> expire_tagged(account_id account, std::vector<std::string> tags);

    // Ends up to batch_size live inboxes of deleted accounts, skipping those another transaction
    // holds. A deleted account cannot create inboxes, so it is done once it has none left.
    awaitable<expiry_batch> expire_of_deleted();

private:
    postgres::pool& db_;
    std::string outbox_owner_;
    std::chrono::seconds quarantine_;
};

} // namespace tempinbox::mailbox
