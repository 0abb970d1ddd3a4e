#pragma once

#include "common/core/awaitable.hpp"
#include "common/metrics/registry.hpp"
#include "common/outbox/outbox.hpp"
#include "common/runtime/periodic_task.hpp"
#include "mailbox/expiry_store.hpp"

namespace tempinbox::inbox {

// How long the expiry loop pauses after a round: not at all behind a full batch, until the next
// inbox is due, briefly when one is overdue because another transaction holds it; never past a
// second, since another replica's inboxes are not heard of.
std::chrono::microseconds delay_after(std::size_t ended,
                                      std::optional<std::chrono::microseconds> until_next_due);

// Ends inboxes when they are due or their account is deleted and publishes their events; one a
// process, any number of processes.
class expiry
{
public:
    expiry(runtime::host& host, mailbox::expiry_store& store, outbox::publisher& publisher);

    void start();
    awaitable<void> stop();

    // Accounts were marked as deleted: their inboxes end now, not within a second.
    void note_deleted_accounts() { deleted_task_.wake(); }

    // Ends one now. Fails with not_found.
    awaitable<result<void>> end(account_id account, inbox_id id);

    // Ends all live ones of the account with the tag now; answers how many.
    awaitable<std::int64_t> end_tagged(account_id account, std::string tag);

private:
    awaitable<std::chrono::microseconds> tick();
    awaitable<std::chrono::microseconds> end_of_deleted();

    mailbox::expiry_store& store_;
    outbox::publisher& publisher_;
    prometheus::Counter& ended_by_ttl_;
    prometheus::Counter& ended_by_owner_;
    prometheus::Histogram& delay_;
    runtime::periodic_task task_;
    runtime::periodic_task deleted_task_;
};

} // namespace tempinbox::inbox
